package redistest

import (
	"runtime"
	"testing"
)

// spy is a test that only notes how it ended.
type spy struct {
	testing.TB
	failed, skipped bool
}

func (s *spy) Helper()               {}
func (s *spy) Fatalf(string, ...any) { s.failed = true; runtime.Goexit() }
func (s *spy) Skipf(string, ...any)  { s.skipped = true; runtime.Goexit() }

func TestMissingServer(t *testing.T) {
	for _, ci := range []string{"", "true"} {
		t.Setenv("PATH", "")
		t.Setenv("CI", ci)
		s := &spy{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			Start(s)
		}()
		<-done
		if inCI := ci == "true"; s.failed != inCI || s.skipped == inCI {
			t.Errorf("CI=%q: failed %v, skipped %v", ci, s.failed, s.skipped)
		}
	}
}
