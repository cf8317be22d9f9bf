package queue

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

// RefusedError says what the server does not permit this user to do. Waiting will
// not mend it.
type RefusedError struct {
	Operation string // "publish to" or "subscribe to"
	Subject   string // that of a call to JetStream starts with $JS.API
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("NATS does not permit this user to %s %q%s", e.Operation, e.Subject, e.remedy())
}

// remedy says who can help. What is to be created is missing.
func (e *RefusedError) remedy() string {
	tokens := strings.Split(e.Subject, ".")
	switch {
	case strings.HasPrefix(e.Subject, "$JS.API.STREAM.CREATE.") && len(tokens) > 4:
		what := "stream " + tokens[4]
		if name, ok := strings.CutPrefix(tokens[4], "KV_"); ok {
			what = "bucket " + name
		}
		return fmt.Sprintf(", and there is no %s; start a worker first, or ask the operator", what)
	case strings.HasPrefix(e.Subject, "$JS.API.CONSUMER.CREATE."+jobsStream+".") && len(tokens) > 5:
		return fmt.Sprintf(", and there is no consumer %s of %s; start a worker first, or ask the operator", tokens[5], jobsStream)
	}
	return "; configs/nats.conf shows what submitters and workers must be allowed to do"
}

// violation is how the server reports what it refused. It is no answer to the
// message, whose sender waits in vain.
var violation = regexp.MustCompile(`(?i)permissions violation for (publish|subscription) to "(\S+)"`)

// readViolation returns what an error of the connection says was refused.
func readViolation(err error) *RefusedError {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return nil
	}
	m := violation.FindStringSubmatch(err.Error())
	switch {
	case m == nil:
		return &RefusedError{"do something of which it says", err.Error()}
	case strings.EqualFold(m[1], "publish"):
		return &RefusedError{"publish to", m[2]}
	}
	return &RefusedError{"subscribe to", m[2]}
}

// maxReported bounds how many refusals are told apart in the log.
const maxReported = 256

// refusals brings what the server refused to those who wait for it.
type refusals struct {
	mu       sync.Mutex
	waiting  map[*waiter]struct{} // guarded by mu
	reported map[string]struct{}  // what was logged, guarded by mu
	away     bool                 // the last attempt to connect was turned away, guarded by mu
}

// waiter waits for calls that use some subjects.
type waiter struct {
	subjects []string
	end      context.CancelCauseFunc
}

// tell ends the waiting for what was refused. It reports whether that is to be
// logged: nobody waited, and it is the first time.
func (r *refusals) tell(e *RefusedError) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	told := false
	for w := range r.waiting {
		for _, s := range w.subjects {
			if covers(s, e.Subject) {
				w.end(e)
				told = true
			}
		}
	}
	return !told && r.first(e.Operation+e.Subject)
}

// first reports whether something was not yet reported. The caller holds mu.
func (r *refusals) first(what string) bool {
	if _, known := r.reported[what]; known || len(r.reported) == maxReported {
		return false
	}
	if r.reported == nil {
		r.reported = map[string]struct{}{}
	}
	r.reported[what] = struct{}{}
	return true
}

// turn notes whether this user is turned away as a whole, and reports whether that
// is news.
func (r *refusals) turn(away bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	news := r.away != away
	r.away = away
	return news
}

// during returns a context for calls that use some subjects, which may have
// wildcards. It ends, with a RefusedError as its cause, when the server refuses
// one of them, or the inbox in which answers arrive.
func (q *Queue) during(ctx context.Context, subjects ...string) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	w := &waiter{append(subjects, q.inbox+".>"), end}
	q.refused.mu.Lock()
	defer q.refused.mu.Unlock()
	if q.refused.waiting == nil {
		q.refused.waiting = map[*waiter]struct{}{}
	}
	q.refused.waiting[w] = struct{}{}
	return ctx, func() {
		end(nil)
		q.refused.mu.Lock()
		defer q.refused.mu.Unlock()
		delete(q.refused.waiting, w)
	}
}

// because returns the refusal that ended ctx, where one did, for the error of a
// call under ctx, which says no more than that it was cancelled. An error that says it
// already stays as it is.
func because(ctx context.Context, err error) error {
	var known, refused *RefusedError
	if err != nil && !errors.As(err, &known) && errors.As(context.Cause(ctx), &refused) {
		return refused
	}
	return err
}

// ask makes a call that uses some subjects.
func (q *Queue) ask(ctx context.Context, call func(context.Context) error, subjects ...string) error {
	ctx, end := q.during(ctx, subjects...)
	defer end()
	return because(ctx, call(ctx))
}

// Ask makes calls one after another, and ends with a RefusedError as soon as the
// server refuses anything. It is for a connection on which nothing else happens.
func (q *Queue) Ask(ctx context.Context, calls func(context.Context) error) error {
	return q.ask(ctx, calls, ">")
}

// covers reports whether a subject, which may have wildcards itself, is one of
// those that a pattern stands for.
func covers(pattern, subject string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range want {
		switch {
		case token == ">":
			return i < len(have)
		case i >= len(have) || token != "*" && token != have[i]:
			return false
		}
	}
	return len(want) == len(have)
}

// hear takes what the server reports besides its answers.
func (q *Queue) hear(err error) {
	if e := readViolation(err); e != nil {
		if q.refused.tell(e) {
			q.log.Warn(e.Error())
		}
		return
	}
	if err := refusedCredentials(err); err != nil {
		if q.refused.turn(true) {
			q.log.Warn("NATS refuses the credentials; trying again", "error", err)
		}
		return
	}
	q.log.Warn("NATS reports", "error", err)
}

// refusedCredentials returns which of the server's reasons not to let anybody in an
// error is, nil where it is none. The client words them in several ways; it gives up
// when it meets one twice, unless it is told to go on.
func refusedCredentials(err error) error {
	for _, e := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired} {
		if errors.Is(err, e) {
			return e
		}
	}
	return nil
}

// lasting reports whether waiting will not mend an error.
func lasting(err error) bool {
	var wrong *mismatchError
	var refused *RefusedError
	return errors.As(err, &wrong) || errors.As(err, &refused)
}
