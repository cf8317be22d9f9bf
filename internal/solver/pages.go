package solver

import (
	"errors"
	"runtime"
	"unsafe"

	"github.com/edsrzf/mmap-go"
)

// pages is memory that the garbage collector has no part in: the sets of searches
// are so large, and grow so fast, that it would hold old ones beside new ones. It is
// zero, is there once it is written to, and goes back to the system at once.
type pages struct {
	bytes   mmap.MMap
	cleanup runtime.Cleanup // for those that no one frees
}

// errNoPages says that the system gives no more memory.
var errNoPages = errors.New("no memory")

// newPages returns so many bytes, more than 0.
func newPages(n int) (*pages, error) {
	private := mmap.COPY
	if runtime.GOOS == "windows" {
		private = mmap.RDWR // what is anonymous is private there
	}
	m, err := mmap.MapRegion(nil, n, private, mmap.ANON, 0)
	if err != nil {
		return nil, errNoPages
	}
	adviseHuge(m)
	p := &pages{bytes: m}
	p.cleanup = runtime.AddCleanup(p, func(m mmap.MMap) { m.Unmap() }, m)
	return p, nil
}

// free gives the memory back, which nothing may use any more.
func (p *pages) free() {
	if p != nil {
		p.cleanup.Stop()
		p.bytes.Unmap()
	}
}

// carve returns the first n values of memory, and the rest of it.
func carve[T any](memory []byte, n int) (values []T, rest []byte) {
	size := n * int(unsafe.Sizeof(*new(T)))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory))), n), memory[size:]
}
