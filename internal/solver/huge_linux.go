package solver

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviseHuge asks for large pages: a table is read all over the place, and mapped
// the sooner. Without them it only takes longer.
func adviseHuge[T any](s []T) {
	const page = 4096
	size := len(s) * int(unsafe.Sizeof(*new(T)))
	if size < 4<<20 {
		return
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), size)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) % page)
	_ = unix.Madvise(b[skip:skip+(size-skip)/page*page], unix.MADV_HUGEPAGE)
}
