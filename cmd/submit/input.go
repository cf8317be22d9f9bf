package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
	"antipode/internal/queue"
)

// input is a job file.
type input struct {
	name   string // for people
	file   *os.File
	info   os.FileInfo
	reader io.Reader
	spec   job.Spec
	puzzle *puzzle.Puzzle // nil for jsonl
	read   atomic.Int64   // bytes so far

	definitions [][]byte     // of the puzzles that its chunks name
	resumed     *queue.Entry // of the job that goes on with it; nil for a new one
}

// Read reads from the file, or the pipe.
func (in *input) Read(p []byte) (int, error) {
	n, err := in.reader.Read(p)
	in.read.Add(int64(n))
	return n, err
}

// size is the file's size, -1 for a pipe.
func (in *input) size() int64 {
	if in.info.Mode().IsRegular() {
		return in.info.Size()
	}
	return -1
}

// open opens all files, and finds out what they hold.
func (s *submission) open(ctx context.Context, names []string) (inputs []*input, err error) {
	defer func() {
		if err != nil {
			closeAll(inputs)
		}
	}()
	outputs := map[string]string{}
	for _, name := range names {
		in := &input{name: name, file: s.stdin}
		if name == "-" {
			in.name = "stdin"
		} else if in.file, err = os.Open(name); err != nil {
			return inputs, err
		}
		inputs = append(inputs, in)
		if in.info, err = in.file.Stat(); err != nil {
			return inputs, err
		}
		if in.info.IsDir() {
			return inputs, fmt.Errorf("%s is a folder; name its files", name)
		}
		if in.reader = io.Reader(in.file); !in.info.Mode().IsRegular() {
			if s.opts.detach {
				return inputs, fmt.Errorf("--detach: %s is no file, from which the job could be resumed", in.name)
			}
			in.reader = newPatient(ctx, in.file)
		}
		if err := s.describe(in, name); err != nil {
			return inputs, err
		}
		if s.opts.outDir != "" {
			out := s.outName(in)
			if other, twice := outputs[out]; twice {
				return inputs, fmt.Errorf("the answers to %s and %s would both go to %s", other, name, out)
			}
			outputs[out] = name
		}
	}
	return inputs, s.spare(inputs)
}

func closeAll(inputs []*input) {
	for _, in := range inputs {
		in.file.Close()
	}
}

// describe finds the puzzle and the format of a job file.
func (s *submission) describe(in *input, name string) (err error) {
	in.spec = job.Spec{
		Owner:   s.cfg.Owner,
		Job:     job.NewID(),
		Want:    s.opts.want,
		Explain: s.opts.explain,
		File:    printable(in.name),
		Budget:  job.Budget{States: s.cfg.Budget.States, Time: s.cfg.Budget.Time},
	}
	switch {
	case filepath.Ext(name) == ".jsonl":
		in.spec.Format.JSONL = true
	case name == "-":
		if in.spec.Format.JSONL, err = in.startsWithBrace(); err != nil {
			return err
		}
	}
	switch {
	case in.spec.Format.JSONL:
	case s.only != nil:
		in.puzzle = s.only
	case name == "-":
		return fmt.Errorf("standard input has no name to tell its puzzle by; use --puzzle, with one of %s or the file of a definition", s.names())
	default:
		if in.puzzle = s.byName(filepath.Base(name)); in.puzzle == nil {
			return fmt.Errorf("%s: its name does not start with the name of a puzzle; use --puzzle, with one of %s or the file of a definition", name, s.names())
		}
	}
	in.spec.JSON = s.opts.output == "jsonl" || s.opts.output == "" && in.spec.Format.JSONL
	named := s.given // JSON lines may name these
	if in.puzzle != nil {
		named = []*puzzle.Puzzle{in.puzzle}
	}
	var refs []string
	for _, p := range named {
		refs = append(refs, p.Ref())
		if d := p.Definition(); d != nil {
			in.definitions = append(in.definitions, d)
		}
	}
	in.spec.Puzzle = strings.Join(refs, " ")
	if in.definitions != nil && in.puzzle != nil && in.spec.Want == "" {
		in.spec.Want = in.puzzle.Want.String() // for a worker that cannot have the definition
	}
	return nil
}

// startsWithBrace tells whether a nameless input is JSON.
func (in *input) startsWithBrace() (bool, error) {
	var head []byte
	for {
		buf := make([]byte, 4096)
		n, err := in.reader.Read(buf)
		head = append(head, buf[:n]...)
		text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
		if len(text) > 0 || len(head) >= limit.Head || err != nil && err != job.ErrQuiet {
			in.reader = io.MultiReader(bytes.NewReader(head), in.reader)
			if err == io.EOF || errors.Is(err, job.ErrQuiet) {
				err = nil
			}
			return len(text) > 0 && text[0] == '{', err
		}
	}
}

// printable makes a file's name fit for a line of text; of a long one it keeps the end.
func printable(name string) string {
	name = job.Printable(name)
	if len(name) > limit.FileShown {
		name = "…" + strings.ToValidUTF8(name[len(name)-limit.FileShown:], "")
	}
	return name
}

// entry describes a job for whoever looks at it later; it is nil where nobody can.
func (s *submission) entry(ctx context.Context, in *input) (*queue.Entry, error) {
	switch {
	case s.cfg.NATS.URL == "":
		return nil, nil
	case in.resumed != nil:
		return in.resumed, nil
	}
	e := &queue.Entry{Size: in.size(), Time: in.info.ModTime().UTC(), Chunk: limit.Chunk, Started: time.Now().UTC()}
	var err error
	e.Hash, err = in.hash(ctx)
	return e, err
}

// hash is the SHA-256 of a file, "" of a pipe.
func (in *input) hash(ctx context.Context) (string, error) {
	if in.size() < 0 {
		return "", nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, until{ctx, io.NewSectionReader(in.file, 0, in.size())}); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", &inputError{err}
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// until is a reader that ends with its context.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}
