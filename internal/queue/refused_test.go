package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// logged is a log that a test can read.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logged) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// isRefusal demands a RefusedError with these words in the whole message.
func isRefusal(t *testing.T, err error, words ...string) {
	t.Helper()
	var refused *RefusedError
	if !errors.As(err, &refused) {
		t.Fatalf("error %v, want a refusal", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("no %q in: %v", w, err)
		}
	}
}

// Where nothing is there yet, a submitter is told so at once: it may not create
// what is missing.
func TestSubmitterBeforeAnyWorker(t *testing.T) {
	url := roleServer(t)
	_, err := openAs(t, asSubmit(url))
	isRefusal(t, err, "NATS at "+url, `"$JS.API.STREAM.CREATE.JOBS"`, "there is no stream JOBS", "start a worker first, or ask the operator")
}

// Credentials of a submitter are none for a worker.
func TestWorkerAsSubmitter(t *testing.T) {
	url := roleServer(t)
	connectAs(t, asWorker(url))
	q := connectAs(t, asSubmit(url))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	err := q.Serve(ctx, ctx, ServeConfig{Fail: failAll, Worker: "w", Bulk: 1, Express: 1})
	isRefusal(t, err, "configs/nats.conf")
}

// A job under another's name ends with the reason, and is no time-out.
func TestJobOfAnotherOwner(t *testing.T) {
	url := roleServer(t)
	connectAs(t, asWorker(url))
	for name, what := range map[string]func(*Queue, Run) error{
		"Run":  func(q *Queue, r Run) error { return q.Run(t.Context(), r) },
		"Post": func(q *Queue, r Run) error { return q.Post(t.Context(), r) },
	} {
		t.Run(name, func(t *testing.T) {
			q := connectAs(t, asSubmit(url))
			spec := newSpec() // of another owner
			err := what(q, Run{Spec: spec, Window: Window{Chunks: 8, Bytes: 1 << 20}, Next: inTurn(numbered(spec, 100)), Write: (&written{}).write})
			var refused *RefusedError
			if !errors.As(err, &refused) || !strings.Contains(refused.Subject, ".tester."+spec.Job) {
				t.Errorf("error %v", err)
			}
		})
	}
	q := connectAs(t, asSubmit(url))
	isRefusal(t, q.Cancel(t.Context(), "other", "J"), `"$KV.antipode.cancel.other.J"`)
	isRefusal(t, q.Ask(t.Context(), func(ctx context.Context) error {
		_, err := q.Jobs(ctx, "other", "")
		return err
	}), "$KV.antipode.job.other.*")
	isRefusal(t, q.Ask(t.Context(), func(ctx context.Context) error {
		_, err := q.Dead(ctx, "")
		return err
	}), "CONSUMER.CREATE.DEAD.")
}

// An inbox that is another's is refused before anything is asked.
func TestInboxOfAnother(t *testing.T) {
	url := roleServer(t)
	connectAs(t, asWorker(url))
	cfg := asSubmit(url)
	cfg.Inbox = SubmitInbox("other")
	_, err := openAs(t, cfg)
	isRefusal(t, err, `subscribe to "_INBOX.submit.other.`)
}

// What nobody waits for is logged, once.
func TestRefusalIsLoggedOnce(t *testing.T) {
	url := roleServer(t)
	connectAs(t, asWorker(url))
	var log logged
	cfg := asSubmit(url)
	cfg.Logger = log.logger()
	q := connectAs(t, cfg)
	for range 3 {
		for _, subject := range []string{"a.b", "c.d"} {
			if err := q.nc.Publish(subject, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	isRefusal(t, q.Cancel(t.Context(), "other", "J")) // all before it were heard
	if a, c, own := strings.Count(log.String(), "a.b"), strings.Count(log.String(), "c.d"), strings.Count(log.String(), "cancel.other"); a != 1 || c != 1 || own != 0 {
		t.Errorf("logged %d, %d and %d times: %s", a, c, own, &log)
	}
}

// Refusals that are told apart are bounded.
func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	logged := 0
	for i := range 3 * maxReported {
		if r.tell(&RefusedError{"publish to", fmt.Sprint("s.", i)}) {
			logged++
		}
	}
	if logged != maxReported || len(r.reported) != maxReported {
		t.Errorf("%d logged, %d kept, want %d", logged, len(r.reported), maxReported)
	}
}

func TestReadViolation(t *testing.T) {
	for text, want := range map[string]RefusedError{
		`Permissions Violation for Publish to "a.b"`:                               {"publish to", "a.b"},
		`Permissions Violation for Subscription to "a.>"`:                          {"subscribe to", "a.>"},
		`Permissions Violation for Subscription to "a.*" using queue "workers"`:    {"subscribe to", "a.*"},
		`permissions violation for subscription to "a" using queue "q" (sid "12")`: {"subscribe to", "a"},
	} {
		got := readViolation(fmt.Errorf("%w: %s", nats.ErrPermissionViolation, text))
		if got == nil || *got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
	if got := readViolation(fmt.Errorf("%w: something new", nats.ErrPermissionViolation)); got == nil || !strings.Contains(got.Error(), "something new") {
		t.Errorf("unknown text: %v", got)
	}
	if got := readViolation(errors.New(`Permissions Violation for Publish to "a.b"`)); got != nil {
		t.Errorf("another error: %v", got)
	}
}

func TestRefusedErrorSaysWhatIsMissing(t *testing.T) {
	for subject, want := range map[string]string{
		"$JS.API.STREAM.CREATE.RESULTS":                                "there is no stream RESULTS;",
		"$JS.API.STREAM.CREATE.KV_antipode":                            "there is no bucket antipode;",
		"$JS.API.CONSUMER.CREATE.JOBS.v1-bulk.antipode.v1.jobs.bulk.>": "there is no consumer v1-bulk of JOBS;",
		"$JS.API.STREAM.INFO.JOBS":                                     "configs/nats.conf",
		"$JS.API.CONSUMER.CREATE.RESULTS.x.y":                          "configs/nats.conf",
		"$JS.API.STREAM.CREATE.":                                       "there is no stream ;",
		"$JS.API.CONSUMER.CREATE.JOBS":                                 "configs/nats.conf",
	} {
		if got := (&RefusedError{"publish to", subject}).Error(); !strings.Contains(got, want) || !strings.Contains(got, subject) {
			t.Errorf("%s: %s", subject, got)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		pattern, subject string
		want             bool
	}{
		{"a.b", "a.b", true}, {"a.b", "a.c", false}, {"a.b", "a", false}, {"a", "a.b", false},
		{"a.*", "a.b", true}, {"a.*", "a.b.c", false}, {"a.*", "a", false},
		{"a.>", "a.b.c", true}, {"a.>", "a", false}, {">", "a", true}, {"*.b", "a.b", true},
	} {
		if got := covers(c.pattern, c.subject); got != c.want {
			t.Errorf("%s covers %s: %t", c.pattern, c.subject, got)
		}
	}
}

// secured runs a server with a password until stop, on a port of its own or one
// that is given.
func secured(t *testing.T, port int, password string) (url string, stop func()) {
	t.Helper()
	s, err := natsserver.NewServer(&natsserver.Options{
		Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, Username: "me", Password: password,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	stop = sync.OnceFunc(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	t.Cleanup(stop)
	if !s.ReadyForConnections(patience) {
		t.Fatal("the server is not ready")
	}
	return s.ClientURL(), stop
}

func me(url string) Config {
	return Config{URL: url, Access: Access{User: "me", Password: "hush"}}
}

// Credentials that are refused at the start are an error, be the server there or
// yet to come.
func TestCredentialsRefusedAtTheStart(t *testing.T) {
	url, stop := secured(t, -1, "other-hush")
	for name, cfg := range map[string]Config{"wrong password": me(url), "no credentials": {URL: url}, "in the URL": {URL: strings.Replace(url, "//", "//me:hush@", 1)}} {
		_, err := openAs(t, cfg)
		if err == nil || !strings.Contains(err.Error(), "refuses the credentials: nats: authorization violation; set nats.user") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", name, err)
		}
	}
	port := portOf(t, url)
	stop()
	var log logged
	cfg := me(url)
	cfg.Logger = log.logger()
	opened := make(chan error, 1)
	go func() {
		_, err := openAs(t, cfg)
		opened <- err
	}()
	eventually(t, "the client waits", func() bool { return strings.Contains(log.String(), "waiting for NATS") })
	secured(t, port, "other-hush")
	if err := await(t, opened, "the end of Open"); err == nil || !strings.Contains(err.Error(), "refuses the credentials") {
		t.Errorf("a server that comes later: %v", err)
	}
	if strings.Contains(log.String(), "hush") {
		t.Errorf("the log tells the password: %s", &log)
	}
}

// Who was let in once goes on trying when it is not any more: the operator may be
// at work. It says so once.
func TestCredentialsRefusedLater(t *testing.T) {
	url, stop := secured(t, -1, "hush")
	var log logged
	cfg := me(url)
	cfg.Logger = log.logger()
	q := connectAs(t, cfg)
	port := portOf(t, url)
	stop()
	refusing, stop := secured(t, port, "other-hush")
	attempts := 0
	eventually(t, "the credentials are refused, three times", func() bool {
		attempts = int(q.nc.Stats().Reconnects)
		return attempts >= 3 && strings.Contains(log.String(), "refuses the credentials; trying again")
	})
	if refusing != url || q.nc.IsClosed() {
		t.Fatalf("%s, closed %t", refusing, q.nc.IsClosed())
	}
	stop()
	secured(t, port, "hush")
	eventually(t, "the server is back", func() bool { return q.returns.Load() > 0 })
	if n := strings.Count(log.String(), "refuses the credentials"); n != 1 || strings.Contains(log.String(), "hush") {
		t.Errorf("said %d times: %s", n, &log)
	}
}

// What is added to a refusal on its way stays.
func TestBecauseKeepsWhatIsAdded(t *testing.T) {
	ctx, end := context.WithCancelCause(t.Context())
	refused := &RefusedError{"publish to", "x"}
	end(refused)
	if err := because(ctx, fmt.Errorf("%w; with advice", refused)); !strings.HasSuffix(err.Error(), "with advice") {
		t.Errorf("%v", err)
	}
	if err := because(ctx, context.Canceled); err != error(refused) {
		t.Errorf("%v, want %v", err, refused)
	}
}
