package queue

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// The names of wire version 1.
const (
	jobsStream    = "JOBS"
	resultsStream = "RESULTS"
	deadStream    = "DEAD"
	bucket        = "antipode"
	kvStream      = "KV_" + bucket // behind the bucket

	jobsPrefix    = "antipode.v1.jobs."
	resultsPrefix = "antipode.v1.results."
	deadPrefix    = "antipode.v1.dead."
)

// Lane is one of two ways for chunks, so that a question of one record does not
// wait behind 10^6.
type Lane string

// Express is for jobs of one chunk, Bulk for all others.
const (
	Bulk    Lane = "bulk"
	Express Lane = "express"
)

func (l Lane) consumer() string { return "v1-" + string(l) }

const (
	// maxAckPending is above any sensible number of slots.
	maxAckPending = 4096

	resultsAge = 24 * time.Hour
	deadAge    = 7 * 24 * time.Hour
	kvAge      = 3 * 24 * time.Hour
)

// sizes bounds what JOBS, DEAD and the bucket hold. A server sets that much
// aside, so a server for one job in memory has less.
func (q *Queue) sizes() (jobs, dead, kv int64) {
	if q.embedded {
		return 96 << 20, 16 << 20, 8 << 20
	}
	return 1 << 30, 256 << 20, 64 << 20
}

func (q *Queue) storage() jetstream.StorageType {
	if q.embedded {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}

// streams are the streams as they are created. One message a subject makes a
// chunk unique while it is queued, and lets it be published again after.
func (q *Queue) streams() []jetstream.StreamConfig {
	jobs, dead, kv := q.sizes()
	all := []jetstream.StreamConfig{{
		Name: jobsStream, Subjects: []string{jobsPrefix + ">"}, Storage: q.storage(),
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgsPerSubject: 1, MaxBytes: jobs,
		Description: "Chunks that wait for a worker, or are with one",
	}, {
		Name: resultsStream, Subjects: []string{resultsPrefix + ">"}, Storage: q.storage(),
		Retention: jetstream.LimitsPolicy, MaxMsgsPerSubject: 1, MaxAge: resultsAge, AllowDirect: true,
		Description: "Answers, for a day",
	}, {
		Name: deadStream, Subjects: []string{deadPrefix + ">"}, Storage: q.storage(),
		Retention: jetstream.LimitsPolicy, MaxMsgsPerSubject: 1, MaxAge: deadAge, MaxBytes: dead, AllowDirect: true,
		Description: "Dead letters: chunks that were given up",
	}, {
		// As the client creates a bucket, but for roll-ups: by one of those, whoever may
		// write one key could empty the bucket.
		Name: kvStream, Subjects: []string{bucketPrefix + ">"}, Storage: q.storage(),
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxMsgsPerSubject: 1, MaxAge: kvAge, MaxBytes: kv,
		AllowDirect: true, DenyDelete: true,
		Description: "Jobs, cancelled jobs, tries, definitions",
	}}
	for i := range all {
		all[i].Replicas = max(q.replicas, 1)
	}
	return all
}

func (q *Queue) consumerConfig(lane Lane) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: lane.consumer(), FilterSubject: jobsPrefix + string(lane) + ".>",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.times.ackWait, MaxDeliver: -1, MaxAckPending: maxAckPending,
	}
}

// mismatchError says that something of the topology exists and is not as it
// must be: waiting will not mend it.
type mismatchError struct{ what string }

func (e *mismatchError) Error() string { return e.what }

// ensure creates what is missing of the topology and checks what is there. It
// changes nothing that exists: limits, replicas and the like are the operator's.
// It returns the bucket.
func (q *Queue) ensure(ctx context.Context) (kv jetstream.KeyValue, err error) {
	ctx, end := q.during(ctx, "$JS.API.>")
	defer func() {
		err = because(ctx, err)
		end()
	}()
	var few []string
	for _, want := range q.streams() {
		have, err := q.stream(ctx, want)
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", want.Name, err)
		}
		if err := checkStream(have, want); err != nil {
			return nil, err
		}
		if have.Replicas < want.Replicas {
			few = append(few, want.Name)
		}
	}
	if len(few) > 0 {
		q.few.Do(func() {
			q.log.Warn(fmt.Sprintf("streams are kept by fewer servers than nats.replicas asks for; 'nats stream edit %s --replicas %d' changes one", few[0], q.replicas),
				"streams", strings.Join(few, " "), "replicas", q.replicas)
		})
	}
	for _, lane := range []Lane{Bulk, Express} {
		if _, err := q.consumer(ctx, lane); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	kv, err = q.js.KeyValue(ctx, bucket)
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", bucket, err)
	}
	return kv, nil
}

// stream returns how a stream is set up, which it creates where it is missing.
func (q *Queue) stream(ctx context.Context, want jetstream.StreamConfig) (have jetstream.StreamConfig, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout) // servers that have no leader yet say nothing
	defer cancel()
	s, err := q.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if q.leavesToWorkers() {
			return have, errLeftToWorkers
		}
		s, err = q.js.CreateStream(ctx, want)
		if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another was faster
			s, err = q.js.Stream(ctx, want.Name)
		}
	}
	if isAlone(err) {
		err = &mismatchError{fmt.Sprintf("the server is in no cluster, and nats.replicas is %d; want 1", want.Replicas)}
	}
	if err != nil {
		return have, err
	}
	return s.CachedInfo().Config, nil
}

// leavesToWorkers reports whether another is to create what is missing: in a cluster
// only who knows how many servers are to keep a stream does.
func (q *Queue) leavesToWorkers() bool { return q.replicas == 0 && q.nc.ConnectedClusterName() != "" }

// errLeftToWorkers is no error that lasts: a worker may come.
var errLeftToWorkers = errors.New("it is missing; in a cluster a worker creates it; start one")

// isAlone tells whether a server refused replicas since it is in no cluster. One whose
// cluster is not complete yet has other reasons, which pass.
func isAlone(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && api.ErrorCode == 10074
}

// consumer returns the consumer of a lane, which it creates where it is missing.
func (q *Queue) consumer(ctx context.Context, lane Lane) (jetstream.Consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	want := q.consumerConfig(lane)
	c, err := q.js.Consumer(ctx, jobsStream, want.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) && q.leavesToWorkers() {
		err = errLeftToWorkers
	}
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		c, err = q.js.CreateConsumer(ctx, jobsStream, want)
		if errors.Is(err, jetstream.ErrConsumerExists) {
			c, err = q.js.Consumer(ctx, jobsStream, want.Durable)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("consumer %s: %w", want.Durable, err)
	}
	if err := checkConsumer(c.CachedInfo().Config, want); err != nil {
		return nil, err
	}
	return c, nil
}

// differences lists what is not as it must be.
type differences []string

func (d *differences) compare(what string, have, want any) {
	if have != want {
		*d = append(*d, fmt.Sprintf("%s is %v, want %v", what, have, want))
	}
}

// checkStream compares what the protocol stands on.
func checkStream(have, want jetstream.StreamConfig) error {
	var wrong differences
	wrong.compare("subjects", strings.Join(have.Subjects, " "), strings.Join(want.Subjects, " "))
	wrong.compare("retention", have.Retention, want.Retention)
	wrong.compare("messages a subject", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject)
	wrong.compare("discard", have.Discard, want.Discard)
	wrong.compare("discard new a subject", have.DiscardNewPerSubject, want.DiscardNewPerSubject)
	if wrong != nil {
		return &mismatchError{fmt.Sprintf("stream %s is set up otherwise: %s", want.Name, strings.Join(wrong, "; "))}
	}
	return nil
}

func checkConsumer(have, want jetstream.ConsumerConfig) error {
	filters := have.FilterSubjects
	if have.FilterSubject != "" {
		filters = []string{have.FilterSubject}
	}
	var wrong differences
	wrong.compare("filter", strings.Join(filters, " "), want.FilterSubject)
	wrong.compare("ack policy", have.AckPolicy, want.AckPolicy)
	wrong.compare("ack wait", have.AckWait, want.AckWait)
	wrong.compare("deliveries", have.MaxDeliver, want.MaxDeliver)
	wrong.compare("steps of back-off", len(have.BackOff), len(want.BackOff))
	if wrong != nil {
		return &mismatchError{fmt.Sprintf("consumer %s of %s is set up otherwise: %s; remove it, and it is created anew",
			want.Durable, jobsStream, strings.Join(wrong, "; "))}
	}
	return nil
}
