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
	// ackWait is how long a chunk may be silent before it is given to another
	// worker; a slot reports progress every progressEvery.
	ackWait       = 10 * time.Second
	progressEvery = 3 * time.Second
	// maxAckPending is above any sensible number of slots.
	maxAckPending = 4096

	jobsBytes   = 1 << 30
	resultsAge  = 24 * time.Hour
	deadAge     = 7 * 24 * time.Hour
	deadBytes   = 256 << 20
	kvAge       = 3 * 24 * time.Hour
	kvBytes     = 64 << 20
	memoryBytes = 256 << 20 // of JOBS in memory
)

func (q *Queue) storage() jetstream.StorageType {
	if q.embedded {
		return jetstream.MemoryStorage
	}
	return jetstream.FileStorage
}

// streams are the streams as they are created. One message a subject makes a
// chunk unique while it is queued, and lets it be published again after.
func (q *Queue) streams() []jetstream.StreamConfig {
	bytes := int64(jobsBytes)
	if q.embedded {
		bytes = memoryBytes
	}
	return []jetstream.StreamConfig{{
		Name: jobsStream, Subjects: []string{jobsPrefix + ">"}, Storage: q.storage(),
		Retention: jetstream.WorkQueuePolicy, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgsPerSubject: 1, MaxBytes: bytes,
		Description: "Chunks that wait for a worker, or are with one",
	}, {
		Name: resultsStream, Subjects: []string{resultsPrefix + ">"}, Storage: q.storage(),
		Retention: jetstream.LimitsPolicy, MaxMsgsPerSubject: 1, MaxAge: resultsAge, AllowDirect: true,
		Description: "Answers, for a day",
	}, {
		Name: deadStream, Subjects: []string{deadPrefix + ">"}, Storage: q.storage(),
		Retention: jetstream.LimitsPolicy, MaxMsgsPerSubject: 1, MaxAge: deadAge, MaxBytes: deadBytes,
		Description: "Dead letters: chunks that were given up",
	}}
}

func consumer(lane Lane) jetstream.ConsumerConfig {
	return jetstream.ConsumerConfig{
		Durable: lane.consumer(), FilterSubject: jobsPrefix + string(lane) + ".>",
		AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxDeliver: -1, MaxAckPending: maxAckPending,
	}
}

// mismatchError says that something of the topology exists and is not as it
// must be: waiting will not mend it.
type mismatchError struct{ what string }

func (e *mismatchError) Error() string { return e.what }

// ensure creates what is missing of the topology and checks what is there. It
// changes nothing that exists: limits, replicas and the like are the operator's.
// It returns the bucket.
func (q *Queue) ensure(ctx context.Context) (jetstream.KeyValue, error) {
	for _, want := range q.streams() {
		stream, err := q.js.Stream(ctx, want.Name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			stream, err = q.js.CreateStream(ctx, want)
			if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // another was faster
				stream, err = q.js.Stream(ctx, want.Name)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", want.Name, err)
		}
		if err := checkStream(stream.CachedInfo().Config, want); err != nil {
			return nil, err
		}
	}
	for _, lane := range []Lane{Bulk, Express} {
		if _, err := q.consumer(ctx, lane); err != nil {
			return nil, err
		}
	}
	kv, err := q.js.KeyValue(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = q.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: bucket, TTL: kvAge, MaxBytes: kvBytes, Storage: q.storage(),
			Description: "Jobs, cancelled jobs, tries",
		})
		if errors.Is(err, jetstream.ErrBucketExists) {
			kv, err = q.js.KeyValue(ctx, bucket)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("bucket %s: %w", bucket, err)
	}
	return kv, nil
}

// consumer returns the consumer of a lane, which it creates where it is missing.
func (q *Queue) consumer(ctx context.Context, lane Lane) (jetstream.Consumer, error) {
	want := consumer(lane)
	c, err := q.js.Consumer(ctx, jobsStream, want.Durable)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		c, err = q.js.CreateConsumer(ctx, jobsStream, want)
		if errors.Is(err, jetstream.ErrConsumerExists) {
			c, err = q.js.Consumer(ctx, jobsStream, want.Durable)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("consumer %s: %w", want.Durable, err)
	}
	have := c.CachedInfo().Config
	if have.FilterSubject != want.FilterSubject || have.AckPolicy != want.AckPolicy || have.MaxDeliver != want.MaxDeliver || have.AckWait != want.AckWait || len(have.BackOff) != 0 {
		return nil, &mismatchError{fmt.Sprintf("consumer %s of %s is set up otherwise: want filter %s, explicit ack, ack wait %s, unlimited deliveries, no back-off; remove it, and it is created anew",
			want.Durable, jobsStream, want.FilterSubject, want.AckWait)}
	}
	return c, nil
}

// checkStream compares what the protocol stands on.
func checkStream(have, want jetstream.StreamConfig) error {
	var wrong []string
	differ := func(what string, have, want any) {
		if have != want {
			wrong = append(wrong, fmt.Sprintf("%s is %v, want %v", what, have, want))
		}
	}
	differ("subjects", strings.Join(have.Subjects, " "), strings.Join(want.Subjects, " "))
	differ("retention", have.Retention, want.Retention)
	differ("messages a subject", have.MaxMsgsPerSubject, want.MaxMsgsPerSubject)
	differ("discard", have.Discard, want.Discard)
	differ("discard new a subject", have.DiscardNewPerSubject, want.DiscardNewPerSubject)
	if wrong != nil {
		return &mismatchError{fmt.Sprintf("stream %s is set up otherwise: %s", want.Name, strings.Join(wrong, "; "))}
	}
	return nil
}
