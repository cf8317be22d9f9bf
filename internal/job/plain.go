package job

import (
	"encoding/binary"
	"math/bits"

	"antipode/internal/limit"
)

// plain finds records that need no closer look: each has so many lines, every line
// starts with a digit or a letter and has its end. It returns how many of them buf
// starts with, up to most, which is at least 1, and where the last one ends, at room
// or before. A record of more than limit.Record bytes is not plain.
//
// It looks at eight bytes at a time, for line ends.
func plain(buf []byte, lines, most, room int) (records, end int) {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	if len(buf) == 0 || !startsLine(buf[0]) {
		return 0, 0
	}
	left := lines
	for at := 0; at < len(buf); at += 8 {
		var word uint64
		if len(buf)-at >= 8 {
			word = binary.LittleEndian.Uint64(buf[at:])
		} else {
			var rest [8]byte
			copy(rest[:], buf[at:])
			word = binary.LittleEndian.Uint64(rest[:])
		}
		word ^= '\n' * ones                                       // a line end is 0
		found := ^((word&^highs + ^uint64(highs)) | word) & highs // the high bit of each byte that is 0
		for ; found != 0; found &= found - 1 {
			next := at + bits.TrailingZeros64(found)/8 + 1
			if left--; left == 0 {
				if next > room || next-end > limit.Record {
					return records, end
				}
				records, end, left = records+1, next, lines
				if records == most {
					return records, end
				}
			}
			if next < len(buf) && !startsLine(buf[next]) {
				return records, end
			}
		}
	}
	return records, end
}

// startsLine tells whether a line that starts with c is no comment, and not blank.
func startsLine(c byte) bool { return c-'0' < 10 || (c|0x20)-'a' < 26 }
