package process

import (
	"bytes"
	"sync"
)

// maxLog bounds what is kept of a program's log, in bytes. The oldest lines go.
const maxLog = 8 << 20

// log keeps the lines that a program says.
type log struct {
	mu      sync.Mutex    // covers all
	lines   []string      // complete ones
	dropped int           // before lines
	bytes   int           // in lines
	rest    []byte        // a line that is not complete
	grown   chan struct{} // closed with the next line
}

func newLog() *log { return &log{grown: make(chan struct{})} }

// Write takes what the program says. It never fails.
func (l *log) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, text...)
	before := len(l.lines)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok && len(l.rest) < maxLog/8 {
			break
		}
		l.lines = append(l.lines, string(line))
		l.bytes += len(line)
		l.rest = rest
	}
	if len(l.lines) > before {
		close(l.grown)
		l.grown = make(chan struct{})
	}
	for l.bytes > maxLog {
		l.bytes -= len(l.lines[0])
		l.lines = l.lines[1:]
		l.dropped++
	}
	return len(text), nil
}

// end completes a last line without an end.
func (l *log) end() {
	if len(l.rest) > 0 {
		l.Write([]byte("\n"))
	}
}

// since returns the lines from the n-th of all that were said, the number of the
// next, and what is closed when it comes.
func (l *log) since(n int) (lines []string, next int, grown <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	from := min(max(n-l.dropped, 0), len(l.lines))
	return l.lines[from:len(l.lines):len(l.lines)], l.dropped + len(l.lines), l.grown
}
