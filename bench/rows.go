package main

import "context"

// row is one piece of work to be measured: ours, and where there is one the
// baseline of the same work.
type row struct {
	name    string // what -only matches
	work    string
	runs    int // at most, of what takes long; 0 for as many as asked for
	targets []target
	// sides makes ready what the row needs. Without a baseline the first is nil.
	sides func(ctx context.Context, l *lab) (baseline, ours *side, err error)
}

// target is a line of the table: a figure that is made of one metric, and what
// it is meant to be.
type target struct {
	metric string // with its unit, as trials name it
	figure figure
	aim    aim
	bound  float64
}

// figure says how a line's figure is made.
type figure uint8

const (
	itself figure = iota // the metric of ours
	faster               // baseline over ours
	slower               // ours over baseline
)

// aim says what a bound is.
type aim uint8

const (
	none aim = iota // the figure is for information
	most
	least
)

// Metrics of trials, with their units.
const (
	seconds     = "s"
	processor   = "s of processor" // of a whole process; of no row's figure
	eachMilli   = "ms/record"
	maxMilli    = "ms, the slowest"
	medianMilli = "ms, the median"
	lateMilli   = "ms, the 99th percentile"
	eachNano    = "ns/record"
	allocs      = "allocs/record"
	peak        = "MB peak"
	rate        = "answers/s"
)

// tableMemory is the default of tables.memory, in bytes; tablePeak is that and
// what the process takes besides, in megabytes.
const (
	tableMemory = 256 << 20
	tablePeak   = 300
)

var rows = []row{
	{name: "eight", work: "10^6 boards of eight, whole process",
		targets: []target{{seconds, faster, least, 6}, {peak, itself, most, 200}}, sides: beside("eight", "eight", 1e6)},
	{name: "eight-workers", work: "the same, nats-server and two workers",
		targets: []target{{seconds, slower, most, 2}}, sides: apart},
	{name: "eight-inside", work: "a worker's own cost of a board of eight, one core",
		targets: []target{{eachNano, itself, most, 60}, {allocs, itself, most, 0.01}}, sides: inside("eight")},
	{name: "eight2", work: "10^6 pairs of eight2 with moves, whole process",
		targets: []target{{seconds, faster, least, 4}, {peak, itself, most, 200}}, sides: beside("eight2", "eight2", 1e6)},
	{name: "table-rotegame", work: "the table of Rotegame, 12! states",
		targets: []target{{seconds, itself, most, 1.5}, {peak, itself, most, tablePeak}}, sides: inside("table rotegame")},
	{name: "table-topspin12", work: "the table of TopSpin-12, 12! states",
		targets: []target{{seconds, itself, most, 4}, {peak, itself, most, tablePeak}}, sides: inside("table configs/puzzles/topspin12.yaml")},
	{name: "table-sliding3x4", work: "the table of 4x3 sliding, 12!/2 states",
		targets: []target{{seconds, itself, most, 5}, {peak, itself, most, tablePeak}}, sides: inside("table configs/puzzles/sliding3x4.yaml")},
	{name: "rotegame-table", work: "Rotegame from its table with moves, one core",
		targets: []target{{rate, itself, least, 250_000}}, sides: inside("rotegame, table")},
	{name: "rotegame", work: "100 random questions of Rotegame, whole process",
		targets: []target{{eachMilli, faster, none, 0}}, sides: beside("rotegame", "rotegame", 100)},
	{name: "rotegame-antipodes", work: "10 antipodes of Rotegame, whole process",
		targets: []target{{eachMilli, faster, none, 0}}, sides: beside("rotegame", "antipodes", 10)},
	{name: "rotegame-search", work: "Rotegame without a table, 1000 random questions, one core",
		targets: []target{{eachMilli, itself, most, 5}}, sides: inside("rotegame, search")},
	{name: "antipodes-search", work: "Rotegame without a table, the 163 antipodes, one core", runs: 3,
		targets: []target{{maxMilli, itself, most, 40}}, sides: inside("antipodes, search")},
	{name: "repeats", work: "Rotegame with repeated values, 1000 questions, one core", runs: 3,
		targets: []target{{eachMilli, itself, most, 5}}, sides: inside("repeats")},
	{name: "graph", work: "graph, another one each of 2000 records, one core",
		targets: []target{{eachMilli, itself, most, 0.3}}, sides: inside("graph")},
	{name: "same-graph", work: "graph, the same one 10^5 times, from its table, one core",
		targets: []target{{eachNano, itself, most, 1000}}, sides: inside("same-graph")},
	{name: "questions", work: "single questions of eight, nats-server and a worker",
		targets: []target{{medianMilli, itself, most, 2}, {lateMilli, itself, none, 0}}, sides: questions},
	{name: "start", work: "worker, start to ready",
		targets: []target{{seconds, itself, most, 0.15}}, sides: start},
	{name: "start-stored", work: "worker, start to ready, with the stored table of Rotegame",
		targets: []target{{seconds, itself, most, 0.2}}, sides: startStored},
	{name: "growth-eight-4", work: "10^4 boards of eight, whole process",
		targets: []target{{seconds, faster, none, 0}, {peak, itself, most, 200}}, sides: beside("eight", "eight", 1e4)},
	{name: "growth-eight-5", work: "10^5 boards of eight, whole process",
		targets: []target{{seconds, faster, none, 0}, {peak, itself, most, 200}}, sides: beside("eight", "eight", 1e5)},
	{name: "growth-eight-7", work: "10^7 boards of eight, whole process", runs: 3,
		targets: []target{{seconds, itself, none, 0}, {peak, itself, most, 200}}, sides: alone("eight", 1e7)},
	{name: "growth-eight2-7", work: "10^7 pairs of eight2 with moves, whole process", runs: 1,
		targets: []target{{seconds, itself, none, 0}, {peak, itself, most, 200}}, sides: alone("eight2", 1e7)},
	{name: "growth-workers", work: "50000 questions of Rotegame with repeated values, one worker of one slot and two", runs: 5,
		targets: []target{{seconds, faster, least, 1.8}}, sides: twoWorkers},
}

type sides = func(context.Context, *lab) (baseline, ours *side, err error)

// beside is submit with all inside its process beside a program of bench/baseline.
func beside(program, kind string, records int) sides {
	return func(ctx context.Context, l *lab) (baseline, ours *side, err error) {
		in, err := l.input(kind, records)
		if err != nil {
			return nil, nil, err
		}
		baseline, err = l.baseline(ctx, program, in)
		return baseline, l.submit("submit", in), err
	}
}

// alone is beside without a baseline, for what would take one too long.
func alone(kind string, records int) sides {
	return func(_ context.Context, l *lab) (baseline, ours *side, err error) {
		in, err := l.input(kind, records)
		return nil, l.submit("submit", in), err
	}
}

// apart is submit with all inside its process beside one with workers apart.
func apart(ctx context.Context, l *lab) (baseline, ours *side, err error) {
	in, err := l.input("eight", 1e6)
	if err != nil {
		return nil, nil, err
	}
	c, err := l.cluster(ctx, 2)
	if err != nil {
		return nil, nil, err
	}
	ours = l.submit("workers", in, "--nats", c.url)
	ours.close = c.stop
	return l.submit("submit", in), ours, nil
}

// twoWorkers is a job that searches, with one worker and with two. Nothing is
// cached, so that each run searches anew.
func twoWorkers(ctx context.Context, l *lab) (one, two *side, err error) {
	in, err := l.input("repeats", 50_000)
	if err != nil {
		return nil, nil, err
	}
	for workers, s := range []**side{&one, &two} {
		c, err := l.cluster(ctx, workers+1, "--slots", "1")
		if err != nil {
			return one, two, err
		}
		*s = l.submit([]string{"one worker", "two workers"}[workers], in, "--nats", c.url)
		(*s).close = c.stop
	}
	return one, two, nil
}

// inside is one of the measurements of inside.go, in a process of its own.
func inside(what string) sides {
	return func(_ context.Context, l *lab) (baseline, ours *side, err error) {
		return nil, l.inside(what), nil
	}
}
