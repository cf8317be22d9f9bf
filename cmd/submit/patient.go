package main

import (
	"context"
	"io"
	"time"

	"antipode/internal/job"
)

// quietAfter is how long a pipe gives nothing before what there is is sent.
const quietAfter = 50 * time.Millisecond

// patient reads from a pipe or a terminal, and returns job.ErrQuiet when
// nothing came for a while.
type patient struct {
	ctx    context.Context
	blocks chan []byte
	ended  error  // why blocks was closed
	rest   []byte // of the last block
}

// newPatient starts to read. A read that blocks cannot be ended: the goroutine
// that waits in it goes with the process, or with the end of its input.
func newPatient(ctx context.Context, r io.Reader) *patient {
	p := &patient{ctx: ctx, blocks: make(chan []byte, 4)}
	go func() {
		defer close(p.blocks)
		for {
			block := make([]byte, 64<<10)
			n, err := r.Read(block)
			if n > 0 {
				select {
				case p.blocks <- block[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				p.ended = err
				return
			}
		}
	}()
	return p
}

// Read returns what there is, at once. Its error is the pipe's, ctx's, or
// job.ErrQuiet.
func (p *patient) Read(buf []byte) (int, error) {
	if len(p.rest) == 0 {
		quiet := time.NewTimer(quietAfter)
		defer quiet.Stop()
		select {
		case block, ok := <-p.blocks:
			switch {
			case !ok && p.ended == nil:
				return 0, context.Cause(p.ctx)
			case !ok:
				return 0, p.ended
			}
			p.rest = block
		case <-quiet.C:
			return 0, job.ErrQuiet
		case <-p.ctx.Done():
			return 0, context.Cause(p.ctx)
		}
	}
	n := copy(buf, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
