package solver

import "unsafe"

// word holds the boards of a pattern, a bit a lane.
type word interface {
	uint8 | uint16 | uint32 | uint64
}

// xorLanes moves the bit of every lane l to lane l^x: for each bit of x it swaps
// the halves of all groups of lanes that differ from there on. It is in three parts
// that the compiler puts where they are called.
func xorLanes[W word](w W, x uint8) W { return xorHigh(xorMiddle(xorLow(w, x), x), x) }

func xorLow[W word](w W, x uint8) W {
	s := x & 1
	d := (w ^ w>>s) & (^W(0) / 3)
	w ^= d ^ d<<s
	s = x & 2
	d = (w ^ w>>s) & (^W(0) / 5)
	return w ^ d ^ d<<s
}

func xorMiddle[W word](w W, x uint8) W {
	s := x & 4
	d := (w ^ w>>s) & (^W(0) / 17)
	w ^= d ^ d<<s
	s = x & 8
	d = (w ^ w>>s) & W(0x00ff00ff00ff00ff&uint64(^W(0)))
	return w ^ d ^ d<<s
}

func xorHigh[W word](w W, x uint8) W {
	if unsafe.Sizeof(w) <= 2 {
		return w
	}
	s := x & 16
	d := (w ^ w>>s) & W(0x0000ffff0000ffff&uint64(^W(0)))
	w ^= d ^ d<<s
	s = x & 32
	return w>>s | w<<s // s is 0 or 32: the halves
}

// littleEndian returns the bytes of words, the lowest first: byte i>>3 of a word
// holds lane i. They share its memory.
func littleEndian[W word](words []W) []byte {
	size := int(unsafe.Sizeof(W(0)))
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), size*len(words))
	if one := W(1); *(*byte)(unsafe.Pointer(&one)) != 1 {
		for i := 0; i < len(b); i += size {
			for j := range size / 2 {
				b[i+j], b[i+size-1-j] = b[i+size-1-j], b[i+j]
			}
		}
	}
	return b
}
