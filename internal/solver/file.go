package solver

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/edsrzf/mmap-go"

	"antipode/internal/puzzle"
)

// A file holds one table, so that all workers of a host share one copy in memory:
// it is mapped, not read. All numbers are little-endian.
//
//	  0   8  "antipode"
//	  8   4  fileVersion
//	 12   4  orderVersion
//	 16  16  the space's fingerprint
//	 32   8  the goal
//	 40   4  cells; lanes; bits of a code; length of the name
//	 44   4  number of layers
//	 48   8  states
//	 56   8  length of the codes in bytes
//	 64   8  checksum of the codes: of the checksums of their parts
//	 72  64  name of the puzzle, for people only
//	136   8  states of each layer, one after the other; then zeros
//	 -8   8  checksum of the header, up to a whole number of pages
//	      …  Table.codes, to the end of the file
//
// A file never changes: it is written under another name, and renamed. Whoever
// cuts one that is mapped stops the workers that read it; removing it does not.
//
// Checksums are xxHash64: 120 MB take 7 ms, and 12 ms as CRC-32C.
const (
	fileMagic    = "antipode"
	fileVersion  = 1 // of the layout above
	orderVersion = 1 // of the numbers of states (order, plan) and of their codes

	fileFixed  = 136      // bytes before the layers
	filePage   = 4096     // headers and codes start at multiples of it
	fileLayers = 1 << 16  // at the most; no space is known to have a thousandth of that
	filePart   = 1 << 18  // of the codes, for one checksum: what a processor's cache holds
	fileSuffix = ".table" // of names
)

var fileNameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{0,64}$`)

// FileName names the file of a table: by its space, and the cell of the goal's
// blank, or none.
func FileName(space *puzzle.Space, goal puzzle.State) string {
	blank := "none"
	if space.HasBlank() {
		blank = fmt.Sprint(goal.Blank())
	}
	return space.Fingerprint().String() + "-" + blank + fileSuffix
}

// FileNames lists the files of tables in a folder, sorted.
func FileNames(dir string) (paths []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if filepath.Ext(e.Name()) == fileSuffix {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, err
}

// Stored is what the header of a table's file says.
type Stored struct {
	Fingerprint puzzle.Fingerprint
	Goal        puzzle.State
	Name        string // of the puzzle, when it was built
	Cells       int
	Layers      []int // states at each distance
	States      int   // their sum
	Size        int64 // of the file, in bytes
	Written     time.Time

	lanes, codeBits int
	codes           int64 // bytes
	sum             uint64
}

// headerSize is the size of a header with so many layers.
func headerSize(layers int) int {
	return (fileFixed + 8*layers + 8 + filePage - 1) / filePage * filePage
}

// header encodes a header.
func (s *Stored) header() []byte {
	b := make([]byte, 0, headerSize(len(s.Layers)))
	b = append(b, fileMagic...)
	b = binary.LittleEndian.AppendUint32(b, fileVersion)
	b = binary.LittleEndian.AppendUint32(b, orderVersion)
	b = append(b, s.Fingerprint[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Goal))
	b = append(b, byte(s.Cells), byte(s.lanes), byte(s.codeBits), byte(len(s.Name)))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Layers)))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.States))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.codes))
	b = binary.LittleEndian.AppendUint64(b, s.sum)
	b = append(b, s.Name...)
	b = b[:fileFixed]
	for _, n := range s.Layers {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = b[:cap(b)-8]
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
}

// Why a file is refused, beside others that name numbers.
var (
	errNoTable      = errors.New("is no file of a table")
	errOtherVersion = errors.New("was written by another version")
	errHeader       = errors.New("is damaged: the checksum of its header differs")
	errCodes        = errors.New("is damaged: its checksum differs")
	errHeaderWrong  = errors.New("is damaged: its header contradicts itself")
	errOtherPuzzle  = errors.New("is of another puzzle")
	errOtherGoal    = errors.New("is of another goal")
	errOtherLayout  = errors.New("is laid out in another way than this version does")
)

func cut(size, want int64) error { return fmt.Errorf("is cut: %d of %d bytes", size, want) }

// readHeader reads the header of a file of so many bytes. It trusts none of its
// numbers before the checksum is right, and then still none that could lead outside
// the file.
func readHeader(r io.ReaderAt, size int64) (*Stored, error) {
	fixed := make([]byte, fileFixed)
	n, err := r.ReadAt(fixed, 0)
	switch {
	case !bytes.HasPrefix(fixed, []byte(fileMagic)):
		return nil, errNoTable
	case n < len(fixed) && err == io.EOF:
		return nil, cut(size, filePage)
	case n < len(fixed):
		return nil, err
	case binary.LittleEndian.Uint32(fixed[8:]) != fileVersion || binary.LittleEndian.Uint32(fixed[12:]) != orderVersion:
		return nil, errOtherVersion
	}
	layers := binary.LittleEndian.Uint32(fixed[44:])
	if layers > fileLayers {
		return nil, errHeader
	}
	b := make([]byte, headerSize(int(layers)))
	if n, err := r.ReadAt(b, 0); n < len(b) {
		if err == io.EOF {
			err = cut(size, int64(len(b)))
		}
		return nil, err
	}
	if end := len(b) - 8; xxhash.Sum64(b[:end]) != binary.LittleEndian.Uint64(b[end:]) {
		return nil, errHeader
	}
	return parseHeader(b, int(layers), size)
}

// parseHeader parses a header whose checksum is right.
func parseHeader(b []byte, layers int, size int64) (*Stored, error) {
	number := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	s := &Stored{
		Goal: puzzle.State(number(32)), Cells: int(b[40]), Size: size,
		lanes: int(b[41]), codeBits: int(b[42]), codes: int64(number(56)), sum: number(64),
	}
	copy(s.Fingerprint[:], b[16:])
	name := b[72:fileFixed]
	if s.Cells > maxTableCells || int(b[43]) > len(name) || !fileNameForm.Match(name[:b[43]]) {
		return nil, errHeaderWrong
	}
	s.Name = string(name[:b[43]])
	for i := range layers {
		n := number(fileFixed + 8*i)
		if n == 0 || n > uint64(factorials[maxTableCells]) {
			return nil, errHeaderWrong
		}
		s.Layers = append(s.Layers, int(n))
		s.States += int(n)
		if s.States > factorials[maxTableCells] {
			return nil, errHeaderWrong
		}
	}
	want := int64(len(b)) + s.codes
	switch {
	case uint64(s.States) != number(48) || s.codes <= 0 || want < s.codes:
		return nil, errHeaderWrong
	case size < want:
		return nil, cut(size, want)
	case size > want:
		return nil, fmt.Errorf("is too long: %d bytes instead of %d", size, want)
	}
	return s, nil
}

// fits says why a file is not that of a plan's table, nil where it is.
func (s *Stored) fits(p *plan) error {
	switch {
	case s.Fingerprint != p.space.Fingerprint():
		return errOtherPuzzle
	case s.Goal != p.goal:
		return errOtherGoal
	case s.Cells != p.cells || s.lanes != p.lanes || s.codeBits != p.codeBits || s.codes != p.codesBytes():
		return errOtherLayout
	case len(s.Layers) == 0 || s.Layers[0] != 1 || s.States > p.patterns*p.lanes:
		return errHeaderWrong
	}
	return nil
}

// sumCodes returns the checksum of so many bytes of codes, by all processors. It
// reads them: where the disk is at fault that is an error, and the end of the
// program where they are mapped.
func sumCodes(ctx context.Context, r io.ReaderAt, size int64) (uint64, error) {
	parts := int((size + filePart - 1) / filePart)
	sums := make([]byte, 8*parts)
	var failed atomic.Pointer[error]
	err := inRuns(ctx, parts, func() func(int) {
		buf := make([]byte, filePart)
		return func(i int) {
			at := int64(i) * filePart
			part := buf[:min(filePart, size-at)]
			if n, err := r.ReadAt(part, at); n < len(part) {
				failed.Store(&err)
			}
			binary.LittleEndian.PutUint64(sums[8*i:], xxhash.Sum64(part))
		}
	})
	if err == nil && failed.Load() != nil {
		err = *failed.Load()
	}
	return xxhash.Sum64(sums), err
}

// WriteFile writes a table to its file in a folder, in the place of one that is
// there; name is the puzzle's. What it could not finish it removes.
func (t *Table) WriteFile(ctx context.Context, dir, name string) (path string, err error) {
	if len(t.layers) > fileLayers || !fileNameForm.MatchString(name) {
		return "", fmt.Errorf("a table of %d layers, called %.100q, has no file", len(t.layers), name)
	}
	s := &Stored{
		Fingerprint: t.space.Fingerprint(), Goal: t.goal, Name: name, Cells: t.cells, Layers: t.layers,
		lanes: t.lanes, codeBits: t.codeBits, codes: int64(len(t.codes)),
	}
	for _, n := range t.layers {
		s.States += n
	}
	if s.sum, err = sumCodes(ctx, bytes.NewReader(t.codes), s.codes); err != nil {
		return "", err
	}
	path = filepath.Join(dir, FileName(t.space, t.goal))
	return path, replaceFile(ctx, path, s.header(), t.codes)
}

// replaceFile writes a file that is there as a whole or not at all.
func replaceFile(ctx context.Context, path string, parts ...[]byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+temporarySuffix)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // a second time, it only says so
			os.Remove(f.Name())
		}
	}()
	const piece = 8 << 20 // between two looks at ctx
	for _, part := range parts {
		for len(part) > 0 && ctx.Err() == nil {
			n, err := f.Write(part[:min(piece, len(part))])
			if err != nil {
				return err // names the file
			}
			part = part[n:]
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := f.Chmod(0o644); err != nil { // of all workers, whoever runs them
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

const temporarySuffix = ".tmp"

// RemoveUnfinished removes what writers left in a folder that were killed. No other
// may be at work there.
func RemoveUnfinished(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, "*"+fileSuffix+".*"+temporarySuffix))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// openHeader opens a file and reads its header.
func openHeader(path string) (*os.File, *Stored, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() { // a pipe could keep it waiting
		return nil, nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil { // of what was opened
		var s *Stored
		if s, err = readHeader(f, info.Size()); err == nil {
			s.Written = info.ModTime()
			return f, s, nil
		}
	}
	f.Close()
	return nil, nil, refuse(path, err)
}

// refuse puts the file before the reason.
func refuse(path string, err error) error {
	var known *os.PathError
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s %w", path, err)
}

// ReadStored reads the header of a file, and checks that it is of the size that it
// should be.
func ReadStored(path string) (*Stored, error) {
	f, s, err := openHeader(path)
	if err != nil {
		return nil, err
	}
	return s, f.Close()
}

// VerifyStored is ReadStored and the checksum of all: what can be told of a table
// whose space is not known.
func VerifyStored(ctx context.Context, path string) (*Stored, error) {
	f, s, err := openHeader(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := s.verify(ctx, f); err != nil {
		return nil, refuse(path, err)
	}
	return s, nil
}

// verify compares the checksum of a file's codes with its header's.
func (s *Stored) verify(ctx context.Context, f *os.File) error {
	sum, err := sumCodes(ctx, io.NewSectionReader(f, s.Size-s.codes, s.codes), s.codes)
	if err == nil && sum != s.sum {
		err = errCodes
	}
	return err
}

// OpenTable opens the file of the table of a space and a goal with distinct labels,
// and checks all of it. Its codes are mapped: their pages are the kernel's, which
// all processes share and which it may take back. The mapping ends when the Table is
// no longer used. The error is ctx's, or says which file is refused, and why.
func OpenTable(ctx context.Context, path string, space *puzzle.Space, goal puzzle.State) (*Table, error) {
	f, s, err := openHeader(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if s.Cells != space.Cells() { // no plan of others, which may be too large
		return nil, refuse(path, errOtherPuzzle)
	}
	p := newPlan(space, goal)
	if err := s.fits(p); err != nil {
		return nil, refuse(path, err)
	}
	if err := s.verify(ctx, f); err != nil {
		return nil, refuse(path, err)
	}
	m, err := mmap.MapRegion(f, int(s.Size), mmap.RDONLY, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	t := &Table{plan: p, home: p.number(goal), layers: s.Layers, codes: m[int64(len(m))-s.codes:], mapped: true}
	runtime.AddCleanup(t, func(m mmap.MMap) { m.Unmap() }, m)
	defer runtime.KeepAlive(t)
	if err := p.link(ctx); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, refuse(path, fmt.Errorf("is wrong: %w", err))
	}
	return t, nil
}
