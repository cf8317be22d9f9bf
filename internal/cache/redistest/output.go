package redistest

import (
	"bytes"
	"sync"
)

// output holds what a server prints, and tells when it says that it is ready.
type output struct {
	ready chan struct{} // closed when the server accepts connections

	mu   sync.Mutex // covers text and told
	text bytes.Buffer
	told bool
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(p)
	if !o.told && bytes.Contains(o.text.Bytes(), []byte("Ready to accept connections")) {
		o.told = true
		close(o.ready)
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
