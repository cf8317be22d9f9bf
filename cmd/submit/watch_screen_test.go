package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"antipode/internal/queue"
)

// Three keys leave, others do nothing; a resize and a frame change what is shown.
func TestKeysOfTheScreen(t *testing.T) {
	m := tea.Model(model{keys: true, frame: frame{cfg: queue.WatchConfig{Owner: "public"}}})
	for key, leaves := range map[tea.Key]bool{
		{Code: 'q', Text: "q"}: true, {Code: 'q', ShiftedCode: 'Q', Text: "Q", Mod: tea.ModShift}: true, {Code: tea.KeyEscape}: true, {Code: 'c', Mod: tea.ModCtrl}: true,
		{Code: 'x', Text: "x"}: false, {Code: tea.KeyEnter}: false, {Code: 'c', Text: "c"}: false,
	} {
		_, cmd := m.Update(tea.KeyPressMsg(key))
		quits := false
		if cmd != nil {
			_, quits = cmd().(tea.QuitMsg)
		}
		if quits != leaves {
			t.Errorf("key %q leaves: %t, want %t", key.String(), quits, leaves)
		}
	}
	if v := m.View(); v.Content != "" || !v.AltScreen {
		t.Errorf("before its size is known: %+v", v)
	}
	m, _ = m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if text := m.View().Content; !strings.Contains(text, "connecting") {
		t.Errorf("before the first frame:\n%s", text)
	}
	m, _ = m.Update(drawn{*busy(2, 3), "something is wrong"})
	if text := m.View().Content; !strings.Contains(text, "something is wrong") || !strings.Contains(text, "host-worker1") || strings.Count(text, "\n") != 23 {
		t.Errorf("after a frame:\n%s", text)
	}
	m, _ = m.Update(tea.WindowSizeMsg{Width: 20, Height: 4})
	if text := m.View().Content; strings.Count(text, "\n") > 3 || strings.Contains(text, "leaves") {
		t.Errorf("after a resize:\n%s", text)
	}
}

// What the packages below say is shown for a while, and what they said of a server that
// was away goes when it is back.
func TestScreenShowsWhatIsSaid(t *testing.T) {
	sc := newScreen(&submission{})
	sc.show(true)
	here, away := busy(0, 0), frames()["away"]
	for _, step := range []struct {
		say  string
		f    *frame
		want string
	}{{"", here, ""}, {"one\n", here, "one"}, {"", here, "one"}, {"two\n", away, "two"}, {"", away, "two"}, {"", here, ""}, {"three\n", here, "three"}} {
		if step.say != "" {
			if n, err := sc.Write([]byte(step.say)); n != len(step.say) || err != nil {
				t.Error(n, err)
			}
		}
		if got := sc.lately(step.f); got != step.want {
			t.Errorf("shown %q, want %q", got, step.want)
		}
	}
	sc.when = sc.when.Add(-2 * saidFor)
	if got := sc.lately(here); got != "" {
		t.Errorf("shown for ever: %q", got)
	}
}

// The screen takes frames, ends when it is told to, and says so; what is said meanwhile
// does not reach the terminal, and what is said after does.
func TestScreenStops(t *testing.T) {
	file := func(name string) *os.File {
		t.Helper()
		f, err := os.Create(filepath.Join(t.TempDir(), name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	s := &submission{stdin: file("in"), stdout: file("out"), stderr: file("err")}
	s.log = newScreen(s)
	sc := s.log.(*screen)
	s.logger().Warn("before")
	left := make(chan struct{})
	stop := sc.start(queue.WatchConfig{Owner: "public"}, func() { close(left) })
	for range 20 {
		if err := sc.draw(*busy(2, 3)); err != nil {
			t.Fatal(err)
		}
	}
	s.logger().Warn("meanwhile")
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-left:
	case <-time.After(time.Minute):
		t.Fatal("not said that it ended")
	}
	s.logger().Warn("after")
	if err := sc.draw(*busy(2, 3)); err != nil { // nobody sees it, and nobody waits for it
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.stderr.Name())
	if err != nil || string(text) != "msg=before\nmsg=after\n" {
		t.Errorf("standard error %q, %v", text, err)
	}
}
