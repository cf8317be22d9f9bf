package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"antipode/internal/job"
	"antipode/internal/puzzle"
	"antipode/internal/queue"
)

// toServer is what the flag --nats of commands says that need a server.
const toServer = "address of the NATS server that has the job"

func resumeCommand(s *submission) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume JOB FILE",
		Short: "Go on with a job that was interrupted, or take the answers of a detached one",
		Long: `resume writes all answers of a job, from its first record on. What is answered
already is read, what is queued is waited for, and only the rest is solved. FILE is
the file that the job was begun with, unchanged; its options are those of the
beginning. Answers are kept for a day, jobs are known for three.`,
		Example: `  submit resume --nats nats://queue:4222 5QZJ2NKXH4T7RA6WEMCB3YVGDU big.txt --out big.out`,
		Args:    cobra.ExactArgs(2),
	}
	cmd.Flags().StringVar(&s.opts.out, "out", "", "write the answers to this file")
	from := newSettings(cmd, toServer)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := s.prepare(from); err != nil {
			return err
		}
		return s.resume(cmd.Context(), args[0], args[1])
	}
	return cmd
}

// resume goes on with a job.
func (s *submission) resume(ctx context.Context, id, name string) error {
	if err := s.named("submit resume", id); err != nil {
		return err
	}
	in, err := s.reopen(name)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	defer in.file.Close()
	q, end, err := s.reach(ctx)
	if err != nil {
		return s.exit(s.cause(ctx, err))
	}
	if err = s.takeUp(ctx, q, id, in); err == nil {
		err = s.each([]*input{in}, func(in *input) error { return s.job(ctx, q, in) })
	}
	return s.end(s.cause(ctx, err), end)
}

// named refuses a job without a server, and what is no job's id.
func (s *submission) named(command string, ids ...string) error {
	if s.cfg.NATS.URL == "" {
		return &exitError{exitUsage, needsServer("'" + command + "'")}
	}
	for _, id := range ids {
		if !job.IsToken(id) {
			return &exitError{exitUsage, fmt.Errorf("%q is no job's id; 'submit status' lists them", id)}
		}
	}
	return nil
}

// cause is an error, or the signal behind it.
func (s *submission) cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// reopen opens the file of a job that was begun before.
func (s *submission) reopen(name string) (in *input, err error) {
	in = &input{name: name}
	if in.file, err = os.Open(name); err != nil {
		return nil, err
	}
	if in.info, err = in.file.Stat(); err == nil && !in.info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file: a job is resumed from the file that it was begun with", name)
	}
	in.reader = in.file
	if err == nil {
		err = s.spare([]*input{in})
	}
	if err != nil {
		in.file.Close()
		return nil, err
	}
	return in, nil
}

// takeUp finds the job, and makes sure that it is this file's.
func (s *submission) takeUp(ctx context.Context, q *queue.Queue, id string, in *input) error {
	e, err := q.Entry(ctx, s.cfg.Owner, id)
	if errors.Is(err, queue.ErrNoJob) {
		return &exitError{exitUsage, err}
	}
	if err != nil {
		return err
	}
	if err := in.unchanged(ctx, e); err != nil {
		return err
	}
	if in.spec, err = e.Spec(); err != nil {
		return fmt.Errorf("job %s: its entry cannot be used: %w", id, err)
	}
	in.spec.Owner, in.spec.Job, in.resumed = s.cfg.Owner, id, e
	if err := s.recall(ctx, q, in); err != nil {
		return err
	}
	return q.Uncancel(ctx, s.cfg.Owner, id)
}

// unchanged refuses a file that is not what the job was begun with.
func (in *input) unchanged(ctx context.Context, e *queue.Entry) error {
	if e.Size < 0 {
		return &exitError{exitUsage, fmt.Errorf("the job was read from a pipe (%s), and cannot be resumed", e.File)}
	}
	if e.Size != in.size() {
		return &exitError{exitUsage, fmt.Errorf("%s has %d bytes, and had %d when the job was begun; submit it anew", in.name, in.size(), e.Size)}
	}
	hash, err := in.hash(ctx)
	if err == nil && hash != e.Hash {
		err = &exitError{exitUsage, fmt.Errorf("%s has changed since the job was begun (its SHA-256 was %s); submit it anew", in.name, e.Hash)}
	}
	return err
}

// recall fetches the puzzles of a job.
func (s *submission) recall(ctx context.Context, q *queue.Queue, in *input) error {
	for _, ref := range strings.Fields(in.spec.Puzzle) {
		name, hash, err := puzzle.ParseRef(ref)
		if err != nil {
			return fmt.Errorf("the job's puzzle: %w", err)
		}
		if hash == "" {
			if in.puzzle, err = s.builtin.Get(name); err != nil {
				return err
			}
			continue
		}
		text, err := q.Definition(ctx, hash)
		if errors.Is(err, queue.ErrNoDefinition) {
			return fmt.Errorf("%w; submit %s anew, with its --puzzle", err, in.name)
		}
		if err != nil {
			return err
		}
		p, err := puzzle.Given(name, name, text)
		if err != nil {
			return err
		}
		s.given = append(s.given, p)
		in.puzzle = p
		in.definitions = append(in.definitions, text)
	}
	s.puzzles = s.builtin.With(s.given...)
	if in.spec.Format.JSONL {
		in.puzzle = nil
	} else if in.puzzle == nil {
		return errors.New("the job's entry names no puzzle")
	}
	return nil
}

// post publishes a job file and prints the job's id.
func (s *submission) post(ctx context.Context, q *queue.Queue, in *input) (err error) {
	cutter := job.NewCutter(in, in.spec, in.puzzle)
	r := queue.Run{
		Spec: in.spec, Definitions: in.definitions,
		Next:    func(ctx context.Context) (*job.Chunk, *job.Result, error) { return s.next(ctx, cutter) },
		Waiting: func(reason string) { s.note("%s: %s", in.name, reason) },
	}
	if r.Entry, err = s.entry(ctx, in); err != nil {
		s.advice = append(s.advice, in.name+" is not begun")
		return err
	}
	if err := q.Room(ctx, in.size()); err != nil {
		return err
	}
	err = q.Post(ctx, r)
	switch {
	case errors.Is(err, job.ErrEmpty):
		s.empty(in)
		return nil
	case err != nil:
		s.leave(q, in, r.Entry, err)
		return err
	}
	s.note("%s: %d records are queued; take their answers with: %s", in.name, cutter.Records(), s.command("resume", in))
	_, err = fmt.Fprintln(s.stdout, in.spec.Job)
	return err
}

// command is the line that goes on with a job, or ends it.
func (s *submission) command(verb string, in *input) string {
	words := []string{"submit", verb}
	for i := 0; i < len(s.where); i += 2 {
		name, value := s.where[i], quote(s.where[i+1])
		if name == "--nats" && strings.Contains(value, "@") { // it may hold a password
			value = "URL"
		}
		words = append(words, name, value)
	}
	words = append(words, in.spec.Job)
	if verb == "resume" {
		words = append(words, s.again(in))
		switch {
		case s.opts.outDir != "":
			words = append(words, "--out", quote(filepath.Clean(s.outName(in))))
		case s.opts.out != "" && !s.several:
			words = append(words, "--out", quote(s.opts.out))
		}
	}
	return strings.Join(words, " ")
}

// again is the word by which a shell finds a job file once more. Standard input has
// none: FILE stands for what it was read from.
func (s *submission) again(in *input) string {
	switch {
	case in.file == s.stdin:
		return "FILE"
	case strings.HasPrefix(in.name, "-"): // which would be a flag
		return quote("./" + in.name)
	}
	return quote(in.name)
}

// quote makes a word one word for a shell.
func quote(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,"
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
