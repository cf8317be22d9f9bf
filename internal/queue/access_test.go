package queue

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"antipode/internal/job"
	"antipode/internal/puzzle"
)

const rolesFile = "../../configs/nats.conf"

// roleServer runs a server with the roles of configs/nats.conf until the test ends.
func roleServer(t *testing.T) (url string) { return serverOf(t, rolesFile) }

// serverOf runs a server with a configuration file, but for its port and store, and
// what is changed besides.
func serverOf(t *testing.T, file string, change ...func(*natsserver.Options)) (url string) {
	t.Helper()
	t.Setenv("ANTIPODE_WORKER_PASSWORD", "work-hush")
	t.Setenv("ANTIPODE_OPERATOR_PASSWORD", "operate-hush")
	return customServer(t, func(o *natsserver.Options) {
		conf, err := natsserver.ProcessConfigFile(file)
		if err != nil {
			t.Fatal(err)
		}
		store := o.StoreDir
		*o = *conf
		o.Host, o.Port, o.HTTPPort, o.StoreDir, o.NoSigs, o.NoLog = "127.0.0.1", -1, 0, store, true, true
		for _, f := range change {
			f(o)
		}
	})
}

func asWorker(url string) Config {
	return Config{URL: url, Access: Access{User: "worker", Password: "work-hush"}, Inbox: WorkerInbox, Name: "worker"}
}

func asSubmit(url string) Config {
	return Config{URL: url, Inbox: SubmitInbox("public"), Name: "submit"}
}

// connectAs opens a queue that is closed with the test.
func connectAs(t *testing.T, cfg Config) *Queue {
	t.Helper()
	q, err := openAs(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { hangUp(t, q) })
	return q
}

func openAs(t *testing.T, cfg Config) (*Queue, error) {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = logger(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return open(ctx, cfg, lenient())
}

func publicSpec() job.Spec {
	spec := newSpec()
	spec.Owner = "public"
	return spec
}

// violations fails the test where a program logs that it may not do something.
func violations(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(watchful{t}, nil))
}

type watchful struct{ t *testing.T }

func (w watchful) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "permit") || strings.Contains(string(p), "iolation") {
		w.t.Errorf("refused: %s", p)
	}
	return len(p), nil
}

// A worker of its role creates the topology and answers; a submitter without
// credentials has a job answered, with a definition, and cancels another. Neither
// tries anything that its role does not permit.
func TestRolesDoTheirWork(t *testing.T) {
	url := roleServer(t)
	worker, submit := asWorker(url), asSubmit(url)
	worker.Logger, submit.Logger = violations(t), violations(t)
	w := connectAs(t, worker)
	slow := publicSpec()
	held, ended := make(chan *job.Chunk, 1), make(chan error, 1)
	definition := []byte("a definition")
	serve(t, w, 1, 1, func(ctx context.Context, c *job.Chunk) (*job.Result, error) {
		if c.Job == slow.Job {
			held <- c
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, context.Cause(ctx)
		}
		if _, err := w.Definition(ctx, puzzle.Hash(definition)); err != nil {
			return nil, err
		}
		return echo(ctx, c)
	})
	q := connectAs(t, submit)
	spec := publicSpec()
	var all written
	completes(t, running(t, q, Run{
		Spec: spec, Entry: &Entry{File: "f"}, Definitions: [][]byte{definition}, Next: inTurn(numbered(spec, 40)), Write: all.write,
	}))
	all.check(t, 40)

	running(t, q, Run{Spec: slow, Next: inTurn(numbered(slow, 1)), Write: all.write})
	await(t, held, "the chunk")
	if err := q.Cancel(t.Context(), "public", slow.Job); err != nil {
		t.Fatal(err)
	}
	if err := await(t, ended, "the end of the chunk"); !errors.Is(err, ErrCancelled) {
		t.Errorf("ended with %v", err)
	}
}

// What submitters do besides: look at their jobs, results and dead letters.
func TestSubmitterSeesItsOwn(t *testing.T) {
	url := roleServer(t)
	w := connectAs(t, asWorker(url))
	submit := asSubmit(url)
	submit.Logger = violations(t)
	q := connectAs(t, submit)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	_, err := w.js.Publish(ctx, resultsPrefix+"public.J.0.1", []byte("answer"))
	must("a worker's result", err)
	_, err = w.js.Publish(ctx, deadPrefix+"public.J.0", []byte("dead"))
	must("a worker's dead letter", err)

	for _, prefix := range []string{"job.public.", "cancel.public."} {
		_, err = q.kv.PutString(ctx, prefix+"J", "value")
		must("put "+prefix, err)
		entry, err := q.kv.Get(ctx, prefix+"J")
		must("get "+prefix, err)
		if string(entry.Value()) != "value" {
			t.Errorf("%s holds %q", prefix, entry.Value())
		}
		keys, err := q.kv.ListKeysFiltered(ctx, prefix+"*")
		must("list "+prefix, err)
		var found []string
		for key := range keys.Keys() {
			found = append(found, key)
		}
		if len(found) != 1 || found[0] != prefix+"J" {
			t.Errorf("keys %v", found)
		}
		must("delete "+prefix, q.kv.Delete(ctx, prefix+"J"))
	}
	for _, stream := range []struct{ name, filter string }{
		{jobsStream, jobsPrefix + "*.public.J.*"}, {resultsStream, resultsPrefix + "public.J.>"}, {deadStream, deadPrefix + "public.J.>"},
	} {
		s, err := q.js.Stream(ctx, stream.name)
		must("stream", err)
		_, err = s.Info(ctx, jetstream.WithSubjectFilter(stream.filter))
		must("subjects of "+stream.name, err)
		if stream.name == jobsStream {
			continue
		}
		c, err := s.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{FilterSubjects: []string{stream.filter}, NamePrefix: job.NewID(), HeadersOnly: true})
		must("consumer of "+stream.name, err)
		m, err := c.Next(jetstream.FetchContext(ctx))
		must("a message of "+stream.name, err)
		if len(m.Data()) != 0 || m.Headers().Get("Nats-Msg-Size") == "" {
			t.Errorf("%s: more than headers: %v %q", stream.name, m.Headers(), m.Data())
		}
	}
	m, err := q.nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET.RESULTS."+resultsPrefix+"public.J.0.1", nil)
	must("direct get", err)
	if string(m.Data) != "answer" {
		t.Errorf("result %q", m.Data)
	}
	m, err = q.nc.RequestWithContext(ctx, "$JS.API.DIRECT.GET.DEAD."+deadPrefix+"public.J.0", nil)
	must("direct get of a dead letter", err)
	if string(m.Data) != "dead" {
		t.Errorf("dead letter %q", m.Data)
	}
}

// raw is a plain connection, as somebody with bad intentions has it.
type raw struct {
	*nats.Conn
	refused chan string
}

func rawConnection(t *testing.T, url string, opts ...nats.Option) *raw {
	t.Helper()
	r := &raw{refused: make(chan string, 64)}
	opts = append(opts, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.refused <- err.Error() }))
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	r.Conn = nc
	return r
}

// isRefused demands that the server refuses what was just done with a subject.
func (r *raw) isRefused(t *testing.T, subject string) {
	t.Helper()
	if err := r.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := await(t, r.refused, "a refusal of "+subject); !strings.Contains(got, `"`+subject+`"`) {
		t.Errorf("%s for %s", got, subject)
	}
}

func TestWhatSubmittersMayNot(t *testing.T) {
	url := roleServer(t)
	w := connectAs(t, asWorker(url))
	other := "$KV.antipode.cancel.other.J"
	nc := rawConnection(t, url, nats.CustomInboxPrefix(SubmitInbox("public")))
	for _, c := range []struct{ subject, body string }{
		{"antipode.v1.jobs.bulk.other.J.0", "another's chunk"},
		{"antipode.v1.results.public.J.0.1", "an answer"},
		{"antipode.v1.dead.public.J.0", "a dead letter"},
		{other, "another's cancellation"},
		{"$KV.antipode.job.other.J", "another's job"},
		{"$KV.antipode.tries.J.0", "4"},
		{"$JS.API.DIRECT.GET.RESULTS.antipode.v1.results.other.J.0.1", ""},
		{"$JS.API.DIRECT.GET.RESULTS", `{"last_by_subj":"antipode.v1.results.other.J.0.1"}`},
		{"$JS.API.DIRECT.GET.KV_antipode.$KV.antipode.job.other.J", ""},
		{"$JS.API.DIRECT.GET.KV_antipode", `{"seq":1}`},
		{"$JS.API.STREAM.MSG.GET.RESULTS", `{"seq":1}`},
		{"$JS.API.STREAM.MSG.GET.JOBS", `{"seq":1}`},
		{"$JS.API.STREAM.MSG.DELETE.JOBS", `{"seq":1}`},
		{"$JS.API.STREAM.PURGE.JOBS", `{"filter":"antipode.v1.jobs.bulk.public.>"}`},
		{"$JS.API.STREAM.PURGE.RESULTS", ""},
		{"$JS.API.STREAM.DELETE.JOBS", ""},
		{"$JS.API.STREAM.UPDATE.RESULTS", "{}"},
		{"$JS.API.STREAM.CREATE.MINE", `{"name":"MINE","subjects":["mine"]}`},
		{"$JS.API.STREAM.LIST", ""},
		{"$JS.API.STREAM.SNAPSHOT.RESULTS", `{"deliver_subject":"_INBOX.submit.public.x"}`},
		{"$JS.API.CONSUMER.CREATE.RESULTS", `{"stream_name":"RESULTS","config":{}}`},
		{"$JS.API.CONSUMER.CREATE.RESULTS.mine", `{"stream_name":"RESULTS","config":{"name":"mine"}}`},
		{"$JS.API.CONSUMER.CREATE.RESULTS.mine.antipode.v1.results.>", `{"stream_name":"RESULTS","config":{"name":"mine","filter_subject":"antipode.v1.results.>"}}`},
		{"$JS.API.CONSUMER.CREATE.RESULTS.mine.antipode.v1.results.*.J.>", ""},
		{"$JS.API.CONSUMER.CREATE.KV_antipode.mine.$KV.antipode.job.*.*", ""},
		{"$JS.API.CONSUMER.DURABLE.CREATE.RESULTS.mine", `{"stream_name":"RESULTS","config":{"durable_name":"mine"}}`},
		{"$JS.API.CONSUMER.CREATE.JOBS.mine.antipode.v1.jobs.bulk.public.>", ""},
		{"$JS.API.CONSUMER.MSG.NEXT.JOBS.v1-bulk", "1"},
		{"$JS.API.CONSUMER.DELETE.JOBS.v1-bulk", ""},
		{"$JS.API.CONSUMER.LIST.RESULTS", ""},
		{"$JS.API.CONSUMER.NAMES.RESULTS", ""},
		{"$JS.ACK.JOBS.v1-bulk.1.1.1.1.0", ""},
		{"_INBOX.submit.other.x", "an answer"},
		{"_INBOX.worker.x", "an answer"},
	} {
		if err := nc.PublishRequest(c.subject, "_INBOX.submit.public.x", []byte(c.body)); err != nil {
			t.Fatal(err)
		}
		nc.isRefused(t, c.subject)
	}
	for _, subject := range []string{
		">", "_INBOX.>", "_INBOX.submit.>", "_INBOX.submit.other.>", "_INBOX.worker.>", "antipode.>",
		"antipode.v1.results.public.>", "antipode.v1.solve.*", "$JS.API.>", "$JS.EVENT.>", "$KV.>", "$SRV.PING",
	} {
		if _, err := nc.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		nc.isRefused(t, subject)
	}

	// A filter in the subject counts, whatever the body says.
	subject := "$JS.API.CONSUMER.CREATE.RESULTS.mine.antipode.v1.results.public.>"
	for _, filter := range []string{
		`"filter_subject":"antipode.v1.results.>"`, `"filter_subjects":["antipode.v1.results.public.>","antipode.v1.results.other.>"]`, `"filter_subjects":[]`,
	} {
		m, err := nc.Request(subject, []byte(`{"stream_name":"RESULTS","config":{"name":"mine","ack_policy":"none",`+filter+`}}`), patience)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(m.Data), `"error"`) {
			t.Errorf("%s: %s", filter, m.Data)
		}
	}

	// A roll-up would empty the bucket.
	m := nats.NewMsg("$KV.antipode.puzzle.hash")
	m.Header.Set("Nats-Rollup", "all")
	if m, err := nc.RequestMsg(m, patience); err != nil || !strings.Contains(string(m.Data), `"error"`) {
		t.Errorf("roll-up: error %v, %s", err, m.Data)
	}
	if n := messages(t, w, jobsStream) + messages(t, w, resultsStream) + messages(t, w, deadStream); n != 0 {
		t.Errorf("%d messages", n)
	}
}

// Workers may not do what is an operator's, and see nobody's inbox.
func TestWhatWorkersMayNot(t *testing.T) {
	url := roleServer(t)
	connectAs(t, asWorker(url))
	nc := rawConnection(t, url, nats.UserInfo("worker", "work-hush"), nats.CustomInboxPrefix(WorkerInbox))
	for _, subject := range []string{
		"antipode.v1.jobs.bulk.public.J.0", "$KV.antipode.cancel.public.J", "$KV.antipode.puzzle.h", "$JS.API.STREAM.DELETE.JOBS", "$JS.API.STREAM.PURGE.RESULTS",
		"$JS.API.STREAM.UPDATE.JOBS", "$JS.API.STREAM.CREATE.MINE", "$JS.API.CONSUMER.DELETE.JOBS.v1-bulk", "$JS.API.STREAM.MSG.DELETE.DEAD",
	} {
		if err := nc.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		nc.isRefused(t, subject)
	}
	for _, subject := range []string{"_INBOX.>", "_INBOX.submit.public.>", "antipode.v1.results.>"} {
		if _, err := nc.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		nc.isRefused(t, subject)
	}
}

// The operator lists and deletes dead letters, and purges.
func TestOperator(t *testing.T) {
	url := roleServer(t)
	w := connectAs(t, asWorker(url))
	if _, err := w.js.Publish(t.Context(), deadPrefix+"public.J.0", nil); err != nil {
		t.Fatal(err)
	}
	nc := rawConnection(t, url, nats.UserInfo("operator", "operate-hush"))
	js, err := jetstream.New(nc.Conn)
	if err != nil {
		t.Fatal(err)
	}
	dead, err := js.Stream(t.Context(), deadStream)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dead.GetLastMsgForSubject(t.Context(), deadPrefix+"public.J.0")
	if err != nil {
		t.Fatal(err)
	}
	if err := dead.DeleteMsg(t.Context(), m.Sequence); err != nil {
		t.Fatal(err)
	}
	if err := dead.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := messages(t, w, deadStream); n != 0 {
		t.Errorf("%d dead letters", n)
	}
}

// The server's answer goes wherever a request says, but not out of the account.
func TestAnswersStayInTheAccount(t *testing.T) {
	url := roleServer(t)
	w := connectAs(t, asWorker(url))
	q := connectAs(t, asSubmit(url))
	if _, err := w.js.Publish(t.Context(), resultsPrefix+"public.J.0.1", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := q.kv.PutString(t.Context(), "job.public.J", "{}"); err != nil {
		t.Fatal(err)
	}
	for _, ask := range []string{"$JS.API.STREAM.INFO.JOBS", "$JS.API.DIRECT.GET.KV_antipode.$KV.antipode.job.public.J", "antipode.v1.jobs.bulk.public.J.0"} {
		for _, reply := range []string{
			"$JS.API.STREAM.PURGE.RESULTS", "$JS.API.STREAM.DELETE.DEAD", "$KV.antipode.cancel.other.J", "antipode.v1.results.other.J.0.1", "antipode.v1.jobs.bulk.other.J.0",
		} {
			if err := q.nc.PublishRequest(ask, reply, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Asked after all of these, and answered after them.
	if _, err := q.kv.Get(t.Context(), "job.public.J"); err != nil {
		t.Fatal(err)
	}
	if jobs, results := messages(t, w, jobsStream), messages(t, w, resultsStream); jobs != 1 || results != 1 {
		t.Errorf("%d chunks and %d results, want one of each", jobs, results)
	}
	messages(t, w, deadStream) // it is still there
	if _, err := w.kv.Get(t.Context(), "cancel.other.J"); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("another's cancellation: error %v", err)
	}
}

// Permissions and imports of the submitters say the same.
func TestPermissionsAreImports(t *testing.T) {
	text, err := os.ReadFile(rolesFile)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := between(t, string(text), "MAY_SUBMIT = {", "  ]}\n")
	var permitted, imported []string
	for _, m := range regexp.MustCompile(`(?m)^    "(\S+)"`).FindAllStringSubmatch(list, -1) {
		permitted = append(permitted, m[1])
	}
	for _, m := range regexp.MustCompile(`service = \{account = ANTIPODE, subject = "(\S+)"`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != "$JS.API.INFO" {
			imported = append(imported, m[1])
		}
	}
	if len(permitted) < 20 || !slices.Equal(permitted, imported) {
		t.Errorf("permitted\n%q\nimported\n%q", permitted, imported)
	}
}

// between returns the part of a text from one mark to the end of another.
func between(t *testing.T, text, from, to string) (part string, end int) {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	part, _, found := strings.Cut(rest, to)
	if !ok || !found {
		t.Fatalf("no %q … %q", from, to)
	}
	return from + part + to, len(text) - len(rest) + len(part) + len(to)
}

// Another owner is added as the file says, and neither sees the other.
func TestAnotherOwner(t *testing.T) {
	text, err := os.ReadFile(rolesFile)
	if err != nil {
		t.Fatal(err)
	}
	copied := strings.NewReplacer("public", "judge", "PUBLIC", "JUDGE", "MAY_SUBMIT", "MAY_JUDGE", "user = public,", "user = judge, password = judge-hush,")
	may, end := between(t, string(text), "MAY_SUBMIT = {", "\n}\n")
	conf := string(text[:end]) + copied.Replace(may) + string(text[end:])
	account, end := between(t, conf, "  PUBLIC {", "\n  }\n")
	url := serverOf(t, fileOf(t, "nats.conf", conf[:end]+copied.Replace(account)+conf[end:]))

	w := connectAs(t, asWorker(url))
	serve(t, w, 1, 1, echo)
	public := connectAs(t, asSubmit(url))
	judge := connectAs(t, Config{URL: url, Access: Access{User: "judge", Password: "judge-hush"}, Inbox: SubmitInbox("judge")})
	for owner, q := range map[string]*Queue{"public": public, "judge": judge} {
		spec := newSpec()
		spec.Owner = owner
		var all written
		completes(t, running(t, q, Run{Spec: spec, Entry: &Entry{File: "f"}, Next: inTurn(numbered(spec, 3)), Write: all.write}))
		all.check(t, 3)
	}
	if _, err := openAs(t, Config{URL: url, Access: Access{User: "judge"}, Inbox: SubmitInbox("judge")}); err == nil {
		t.Error("judge needs no password")
	}
	for owner, q := range map[string]*Queue{"judge": public, "public": judge} {
		isRefusal(t, q.Ask(t.Context(), func(ctx context.Context) error {
			_, err := q.Jobs(ctx, owner, "")
			return err
		}), "job."+owner)
	}
}
