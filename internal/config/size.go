package config

import (
	"errors"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// Size is a number of bytes. It is written with a unit of 1024 (KiB, MiB, GiB)
// or 1000 (kB, MB, GB), or without one.
type Size int64

var errSize = errors.New("not a size")

// UnmarshalText reads "256MiB", "1.5 GB" or "4096".
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n > math.MaxInt64 {
		return errSize
	}
	*s = Size(n)
	return nil
}

// String writes the size exactly, in the largest unit of 1024 that leaves a
// whole number.
func (s Size) String() string {
	for _, unit := range []struct {
		name string
		size Size
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s != 0 && s%unit.size == 0 {
			return strconv.FormatInt(int64(s/unit.size), 10) + unit.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}
