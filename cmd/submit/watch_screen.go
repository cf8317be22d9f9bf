package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"

	"antipode/internal/queue"
)

// screen shows frames on the whole terminal. Meanwhile it keeps what the packages below
// have to say, which would land in the middle of it.
type screen struct {
	s       *submission
	program *tea.Program
	ended   chan error // of the program, once

	mu    sync.Mutex
	shown bool      // guarded by mu
	said  string    // the last, guarded by mu
	when  time.Time // it was said, guarded by mu
	away  bool      // at the last frame, guarded by mu
}

// saidFor is how long it is shown.
const saidFor = 30 * time.Second

func newScreen(s *submission) *screen {
	return &screen{s: s, ended: make(chan error, 1)}
}

// Write takes a warning in.
func (sc *screen) Write(p []byte) (int, error) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if !sc.shown {
		return sc.s.stderr.Write(p)
	}
	sc.said, sc.when = strings.TrimSpace(string(p)), time.Now()
	return len(p), nil
}

func (sc *screen) show(shown bool) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.shown = shown
}

// start takes the terminal, and calls leave when it has it no more. Stop gives it back
// as it was, and waits for that.
func (sc *screen) start(cfg queue.WatchConfig, leave func()) (stop func() error) {
	m := model{frame: frame{cfg: cfg}, keys: term.IsTerminal(int(sc.s.stdin.Fd()))}
	opts := []tea.ProgramOption{tea.WithOutput(sc.s.stdout), tea.WithoutSignalHandler(), tea.WithFPS(10)}
	if m.keys {
		opts = append(opts, tea.WithInput(sc.s.stdin))
	} else {
		opts = append(opts, tea.WithInput(nil))
	}
	sc.program = tea.NewProgram(m, opts...)
	sc.show(true)
	go func() {
		_, err := sc.program.Run()
		sc.show(false)
		sc.ended <- err
		leave()
	}()
	return func() error {
		sc.program.Quit()
		if err := <-sc.ended; err != nil {
			return fmt.Errorf("terminal: %w", err)
		}
		return nil
	}
}

// draw shows a frame.
func (sc *screen) draw(f frame) error {
	sc.program.Send(drawn{f, sc.lately(&f)})
	return nil
}

// lately is what was said of late. That the server went is old when it is back.
func (sc *screen) lately(f *frame) string {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if back := sc.away && f.Away.IsZero(); back || time.Since(sc.when) > saidFor {
		sc.said = ""
	}
	sc.away = !f.Away.IsZero()
	return sc.said
}

// drawn is a frame that comes to the model.
type drawn struct {
	frame frame
	said  string
}

// model is what the terminal shows.
type model struct {
	frame         frame
	said          string
	width, height int
	keys          bool
}

func (m model) Init() tea.Cmd { return nil }

func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case drawn:
		m.frame, m.said = msg.frame, msg.said
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "Q", "esc", "ctrl+c":
			return m, tea.Quit
		}
	}
	return m, nil
}

func (m model) View() tea.View {
	v := tea.NewView(render(&m.frame, m.said, m.keys, m.width, m.height))
	v.AltScreen = true
	return v
}
