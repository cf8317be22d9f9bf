//go:build unix

package main

import (
	"context"
	"time"
)

// row is a fault, and a job that it meets.
type row struct {
	name  string // what -only matches
	fault string
	short bool // part of the short form
	alone bool // it would disturb others, or they it
	limit time.Duration
	// run lets the fault meet a job of its own. Its programs and its folder end
	// with it. The error is a demand that does not hold; that answers were lost,
	// came twice or are wrong stands in the result only.
	run func(ctx context.Context, l *lab) (result, error)
}

// usualLimit is how long a row without a limit may take: far more than it does.
const usualLimit = 2 * time.Minute

// result is what a row found.
type result struct {
	often int // how often the fault hit; never is a failure
	tally
	note string // figures besides, and what they are meant to be
}

// tally is the answers of jobs beside those of an undisturbed run.
type tally struct {
	records int
	lost    int // records without an answer
	doubled int // with more than one
	wrong   int // with another answer, or in another place
}

func (t *tally) add(u tally) {
	t.records += u.records
	t.lost += u.lost
	t.doubled += u.doubled
	t.wrong += u.wrong
}

func (t tally) clean() bool { return t.lost == 0 && t.doubled == 0 && t.wrong == 0 }

var rows = []row{
	{name: "conserve", fault: "workers, submit, NATS and Redis die at random", short: true, alone: true, limit: 8 * time.Minute, run: conserve},
	{name: "worker-dies", fault: "a worker is killed with a chunk in hand", short: true, run: workerDies},
	{name: "slow-chunk", fault: "chunks take longer than the ack wait", run: slowChunks},
	{name: "stuck", fault: "a search does not end", short: true, run: stuck},
	{name: "panic", fault: "a record panics", short: true, run: panics},
	{name: "crash", fault: "a record kills each worker that begins it", short: true, limit: 3 * time.Minute, run: crashes},
	{name: "nats-late", fault: "NATS comes after the programs that want it", short: true, run: late},
	{name: "nats-never", fault: "NATS does not come", short: true, run: never},
	{name: "nats-away", fault: "NATS is silent, then away, while a job runs", run: away},
	{name: "nats-lost", fault: "one of three NATS servers is lost, then another", run: lostServers},
	{name: "nats-wiped", fault: "NATS comes back without its data", short: true, run: wiped},
	{name: "jobs-purged", fault: "all that is queued is purged", run: purgedJobs},
	{name: "results-expired", fault: "results are gone before they are read", run: expired},
	{name: "results-recreated", fault: "the stream of results is deleted and created anew", run: recreated},
	{name: "deleted", fault: "consumer, bucket and streams are deleted in turn while a job runs", limit: 4 * time.Minute, run: deleted},
	{name: "acks-lost", fault: "connections are cut before publishes are acked", short: true, limit: 3 * time.Minute, run: lostAcks},
	{name: "jobs-full", fault: "there is no room for a job", short: true, run: full},
	{name: "submit-dies", fault: "submit is interrupted and killed in turn, and resumed", short: true, run: submitDies},
	{name: "cancel", fault: "a job is cancelled, and resumed", short: true, run: cancelled},
	{name: "stop", fault: "a worker is stopped once, with a chunk in hand", short: true, run: stops},
	{name: "give-back", fault: "a worker is stopped twice, with a chunk in hand", short: true, run: givesBack},
	{name: "rolling", fault: "all workers are restarted in turn", short: true, run: rolling},
	{name: "redis-sick", fault: "Redis cannot do what it is for", short: true, alone: true, run: sickRedis},
	{name: "redis-lies", fault: "Redis holds garbage and lies", short: true, run: lyingRedis},
	{name: "budgets", fault: "records take more time, states and memory than they may", short: true, alone: true, run: budgets},
	{name: "slow-reader", fault: "the answers' reader is slow, and stops for a while", short: true, limit: 5 * time.Minute, run: slowReader},
	{name: "fairness", fault: "bulk records take all of two workers' time", short: true, alone: true, run: fairness},
}

// groups puts the rows that are wanted in the order in which they run: each alone
// by itself, then all others together.
func groups(rows []row, opts options) (all [][]row) {
	var together []row
	for _, r := range rows {
		switch {
		case !opts.only.MatchString(r.name) || opts.short && !r.short:
		case r.alone:
			all = append(all, []row{r})
		default:
			together = append(together, r)
		}
	}
	if len(together) > 0 {
		all = append(all, together)
	}
	return all
}
