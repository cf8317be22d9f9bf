//go:build !linux

package solver

// adviseHuge does nothing: only Linux is asked for large pages.
func adviseHuge[T any]([]T) {}
