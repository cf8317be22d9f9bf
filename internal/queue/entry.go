package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/limit"
	"antipode/internal/puzzle"
)

// Entry is what the bucket holds of a job, for three days: enough to go on with it
// from its file, on any machine.
type Entry struct {
	File   string    `json:"file"`
	Size   int64     `json:"size"`           // bytes; -1 for a stream
	Time   time.Time `json:"time"`           // of the file's last change
	Hash   string    `json:"hash,omitempty"` // SHA-256 of the file, in hexadecimal
	Chunk  int       `json:"chunk"`          // bytes of a chunk, at the most
	Puzzle string    `json:"puzzle,omitempty"`
	// The rest of the job's spec, in the words of a chunk's headers.
	Format       string `json:"format"`
	Output       string `json:"output"`
	Want         string `json:"want,omitempty"`
	Explain      bool   `json:"explain,omitempty"`
	BudgetStates int64  `json:"budget_states,omitempty"`
	BudgetTime   string `json:"budget_time,omitempty"`

	Started  time.Time `json:"started"`
	Chunks   int       `json:"chunks,omitempty"`  // that travel, once all are cut
	Records  int       `json:"records,omitempty"` // all, once all are cut
	Finished time.Time `json:"finished,omitzero"` // when the last answer was written

	known bool // the bucket had it
}

// Known tells whether the bucket has had the entry, so that its job can be resumed.
func (e *Entry) Known() bool { return e.known }

// describe fills in what a job's chunks have in common.
func (e *Entry) describe(spec *job.Spec) {
	e.File, e.Puzzle, e.Want, e.Explain = spec.File, spec.Puzzle, spec.Want, spec.Explain
	e.Format, e.Output = format(spec.Format.JSONL), format(spec.JSON)
	e.BudgetStates = spec.Budget.States
	if spec.Budget.Time > 0 {
		e.BudgetTime = spec.Budget.Time.String()
	}
}

func format(jsonl bool) string {
	if jsonl {
		return "jsonl"
	}
	return "text"
}

// Spec is what the job's chunks have in common, but for the owner and the job.
func (e *Entry) Spec() (job.Spec, error) {
	s := job.Spec{File: e.File, Puzzle: e.Puzzle, Want: e.Want, Explain: e.Explain, JSON: e.Output == "jsonl"}
	s.Format.JSONL = e.Format == "jsonl"
	s.Budget.States = max(e.BudgetStates, 0)
	var errs []error
	if e.BudgetTime != "" {
		var err error
		s.Budget.Time, err = time.ParseDuration(e.BudgetTime)
		errs = append(errs, err)
	}
	if e.Want != "" {
		_, err := puzzle.ParseWant(e.Want)
		errs = append(errs, err)
	}
	return s, errors.Join(errs...)
}

// ErrNoJob says that the bucket knows no such job: it keeps them for three days.
var ErrNoJob = errors.New("no such job; they are known for three days")

// Entry returns what the bucket holds of a job. The error is ErrNoJob, or that the
// bucket could not be read.
func (q *Queue) Entry(ctx context.Context, owner, id string) (*Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	var value jetstream.KeyValueEntry
	err := q.ask(ctx, func(ctx context.Context) (err error) {
		value, err = q.expected(ctx, jobKey(owner, id))
		return err
	}, "$JS.API.DIRECT.GET."+kvStream+".>")
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, fmt.Errorf("job %s of %s: %w", id, owner, ErrNoJob)
	}
	if err != nil {
		return nil, fmt.Errorf("job %s of %s: %w", id, owner, err)
	}
	return decodeEntry(id, value.Value())
}

func decodeEntry(id string, value []byte) (*Entry, error) {
	if len(value) > limit.Entry {
		return nil, fmt.Errorf("job %s: its entry has %d bytes, %d are possible", id, len(value), limit.Entry)
	}
	e := &Entry{}
	if err := json.Unmarshal(value, e); err != nil {
		return nil, fmt.Errorf("job %s: its entry cannot be read: %w", id, err)
	}
	if len(e.File) > limit.FileHeader {
		return nil, fmt.Errorf("job %s: its entry names a file with %d bytes, %d are possible", id, len(e.File), limit.FileHeader)
	}
	// These are printed, and the file's name travels with the chunks.
	e.File, e.Hash, e.Puzzle = job.Printable(e.File), job.Printable(e.Hash), job.Printable(e.Puzzle)
	return e, nil
}

// register puts a job's entry into the bucket. The job is answered without that, too.
func (q *Queue) register(ctx context.Context, spec *job.Spec, e *Entry) {
	if e == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	e.describe(spec)
	value, err := json.Marshal(e)
	if err == nil {
		key := jobKey(spec.Owner, spec.Job)
		err = q.ask(ctx, func(ctx context.Context) error {
			_, err := q.kv.Put(ctx, key, value)
			return err
		}, bucketPrefix+key)
		e.known = e.known || err == nil
	}
	if err != nil {
		q.log.Warn("job not registered", "job", spec.Job, "error", err)
	}
}
