// Package limit names every bound on what comes in from files and messages, so
// that nothing a stranger sends makes a process hold, read or repeat more than is
// said here. docs/limits.md tells users; a test compares the two.
//
// These are constants of the product: with other ones the same file would be cut
// into other chunks, or a chunk that one worker answers be refused by the next.
// What an operator chooses (windows, memory, budgets, sizes of streams) is in
// internal/config; what belongs to an algorithm is beside it.
package limit

// Job files. job.Cutter enforces them; memory does not grow with a line, with what
// stands between records, or with the file.
const (
	// Record is the bytes of a record: a line of jsonl, or the lines of a text
	// record from its first value on. A longer one is answered as invalid and does
	// not travel. The largest that makes sense, of Edges edges and two boards, is a
	// tenth of it. There is no other bound on a line: blank lines and comments between
	// records are skipped as they are read.
	Record = 128 << 10
	// Chunk is the bytes of a chunk's payload: two of the longest records, and well
	// below what a NATS server takes in one message, 1 MB.
	Chunk = 256 << 10
	// ChunkRecords is the records of a chunk, in a definition (puzzle.Parse) and in
	// the header Records (queue): four bytes each where the chunk is full, and hardly
	// a record is shorter.
	ChunkRecords = 1 << 16
	// Count is the number of records that a file may announce (puzzle.ReadCount),
	// which an int holds. It is compared with what comes, and no room is made for it.
	Count = 1_000_000_000_000_000_000
	// Head is the bytes of white space after which a nameless input is taken for
	// text (submit).
	Head = 64 << 10
)

// Records, in files and in messages. The readers in puzzle and job enforce them.
const (
	// Edges is those that a record brings; they may be given more than once, and 16
	// vertices have 120.
	Edges = 1024
	// Lines is the lines of a text record, those of edges aside: a value on each, of
	// two boards, and one more.
	Lines = 2*Cells + 1
	// Blocks is the parts of a text record with blank lines between: edges, start
	// and goal.
	Blocks = 3
	// ID is the bytes of the id of a line of jsonl, which comes back with the answer.
	ID = 1 << 10
)

// Definitions of puzzles: files, and what workers fetch from the bucket.
// puzzle.Parse enforces them.
const (
	// Definition is the bytes of one: Moves moves with their cycles need half of it.
	Definition = 16 << 10
	// Nesting is how deep its lists and maps may stand in each other; four do.
	// The time to parse grows with its square.
	Nesting = 16
	// Cells is those of a board: a puzzle.State is a word with four bits for each.
	Cells = 16
	// Moves is those of a definition: the index of one is a byte, and 255 is none.
	Moves = 255
	// Value is the largest that may stand on a board, a byte.
	Value = 255
	// About and Example are the bytes of these texts: a line, and a screen, of a
	// terminal.
	About   = 200
	Example = 4 << 10
	// MoveName is the bytes of a move's name, and of what separates moves. It stands
	// in answers once for each move.
	MoveName = 32
	// JobDefinitions is those that one job may bring (submit). Their refs travel
	// with every chunk of jsonl, in PuzzleHeader.
	JobDefinitions = 15
	// KeptDefinitions is those that a worker keeps. Beyond them it starts over, and
	// fetches again what is wanted again.
	KeptDefinitions = 64
)

// Messages. internal/queue enforces them; beyond these a server has its own
// max_payload, for headers and payload together.
const (
	// Token is the bytes of an owner, a job's id and a puzzle's name, all of
	// [A-Za-z0-9_-]: they stand in subjects, keys and names of files.
	Token = 64
	// Number is the largest of a chunk in its job, and the largest count in a
	// result: an int of 32 bits.
	Number = 1<<31 - 1
	// PuzzleHeader is the bytes of the header Puzzle: JobDefinitions refs, of a name,
	// 64 digits and two signs each, need 1950.
	PuzzleHeader = 2 << 10
	// FileHeader is the bytes of the header File, which stands in answers once for
	// each record that is not solved.
	FileHeader = 1 << 10
	// FileShown is the bytes of a file's name that submit sends: its end, after a "…"
	// of three bytes.
	FileShown = 512
	// Entry is the bytes of what the bucket holds of a job: PuzzleHeader and FileHeader,
	// quoted, and some words.
	Entry = 16 << 10
	// Parts is the messages of one result: together 1 GB, where a server takes 1 MB.
	Parts = 1 << 10
	// Reason is the bytes of why a chunk was given up: it stands in the dead letter,
	// and in the answer to each of its records.
	Reason = 512
	// Tries is how often a chunk is begun, by workers that die of it, before it is
	// given up.
	Tries = 4
	// Deliveries is how often it is delivered, whatever happens to it.
	Deliveries = 50
	// Questions is the single questions that wait for a slot of a worker, besides
	// those being answered: some 64 ms of tables, at a millisecond each. One more is
	// told that the worker is busy.
	Questions = 64
	// Workers is those that are listed of all that answer.
	Workers = 1 << 12
	// Presence is the bytes of what a worker tells of itself: all puzzles that it may
	// have, with their tables, need 10 KB, and each slot 60 bytes.
	Presence = 64 << 10
	// Held is the slots of a worker whose work is listed.
	Held = 1 << 10
	// Watched is the chunks that a watch tells apart, in up to 100 MB, so that one that is
	// answered again does not count twice.
	Watched = 1 << 20
	// Noted is the answers that submit notes ahead of their chunks. One that is not
	// noted is published again, and answered for nothing.
	Noted = 1 << 20
	// KeptCancels is the cancelled jobs that a worker remembers, the last half of them
	// for sure. A chunk of one that it forgot is answered for nothing.
	KeptCancels = 1 << 14
)

// CachedMoves is the moves of an answer in the cache, which bounds what a value
// from Redis is taken for. It is far above the distances that can be searched.
// Longer answers are not kept. internal/cache enforces it.
const CachedMoves = 4096

// Secret is the bytes of a file with a secret, a line. internal/config enforces it.
const Secret = 64 << 10

// Connections that a process makes, or takes.
const (
	// NATSConnections is those to NATS, whatever the number of slots: queue.Open
	// makes it.
	NATSConnections = 1
	// HTTPConnections is those that a worker's metrics and health take at once; others
	// wait in the kernel. internal/metrics enforces it, and the next two.
	HTTPConnections = 32
	// HTTPScrapes is the answers with metrics that are made at once.
	HTTPScrapes = 4
	// HTTPHeader is the bytes of a request's headers; the library takes 4 KiB more.
	HTTPHeader = 16 << 10
	// RedisSpare is those to Redis besides one for each slot: that of the one
	// goroutine that writes. internal/cache bounds its pool by both.
	RedisSpare = 1
)
