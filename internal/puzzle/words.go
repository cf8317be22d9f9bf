package puzzle

import "bytes"

// lineEnd returns the end of the line at pos, its line end included, and
// whether it has one.
func lineEnd(buf []byte, pos int) (end int, whole bool) {
	if i := bytes.IndexByte(buf[pos:], '\n'); i >= 0 {
		return pos + i + 1, true
	}
	return len(buf), false
}

type lineKind uint8

const (
	valuesLine lineKind = iota
	blankLine
	commentLine
)

func kindOf(line []byte) lineKind {
	for _, c := range line {
		switch {
		case c == '#':
			return commentLine
		case !isSpace(c):
			return valuesLine
		}
	}
	return blankLine
}

// IsBlank tells whether a line holds white space only.
func IsBlank(line []byte) bool { return kindOf(line) == blankLine }

// IsComment tells whether a line of text holds a comment only.
func IsComment(line []byte) bool { return kindOf(line) == commentLine }

// isSpace tells what separates words: white space and commas.
func isSpace(c byte) bool {
	return c == ' ' || c == ',' || c-'\t' < 5 // \t \n \v \f \r
}

// TrimSpace takes off the white space that a line of text starts with.
func TrimSpace(line []byte) []byte {
	for len(line) > 0 && isSpace(line[0]) {
		line = line[1:]
	}
	return line
}

// words splits a buffer into words. A # starts a comment to the line's end.
type words struct {
	buf  []byte
	pos  int // after the last word
	line int // line ends before pos
}

// next returns the next word; ok is false where none is left.
func (w *words) next() (word []byte, ok bool) {
	buf, i := w.buf, w.pos
	for i < len(buf) {
		c := buf[i]
		switch {
		case c == '\n':
			w.line++
		case c == '#':
			n := bytes.IndexByte(buf[i:], '\n')
			if n < 0 {
				w.pos = len(buf)
				return nil, false
			}
			i += n
			continue
		case !isSpace(c):
			start := i
			for i < len(buf) && !isSpace(buf[i]) && buf[i] != '#' {
				i++
			}
			w.pos = i
			return buf[start:i], true
		}
		i++
	}
	w.pos = i
	return nil, false
}

// wordNumber reads a word of one to nine digits.
func wordNumber(word []byte) (n int, ok bool) {
	if len(word) == 0 || len(word) > 9 {
		return 0, false
	}
	for _, c := range word {
		if c-'0' > 9 {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}
