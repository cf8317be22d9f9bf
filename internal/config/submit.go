package config

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"antipode/internal/limit"
)

// Submit is everything that can be set of cmd/submit, other than what belongs
// to one job.
type Submit struct {
	NATS struct {
		// URL of the server, or several with commas between them; "" is a
		// server and a worker inside this process.
		URL string `mapstructure:"url"`
		// Wait is how long to wait for a server before giving up; 0 is one
		// attempt.
		Wait   time.Duration `mapstructure:"wait"`
		Access `mapstructure:",squash"`
	} `mapstructure:"nats"`

	// Owner is the token under which jobs and results are filed, 1 to 64
	// letters, digits, - and _.
	Owner string `mapstructure:"owner"`

	Window struct {
		// Chunks bounds the chunks that are published and not yet written, 1
		// to MaxWindow.
		Chunks int `mapstructure:"chunks"`
		// Bytes bounds the same chunks' size.
		Bytes Size `mapstructure:"bytes"`
	} `mapstructure:"window"`

	Budget struct {
		// States is how many states a search may keep, for one record; 0 is
		// what the worker allows, which nothing here can raise.
		States int64 `mapstructure:"states"`
		// Time is how long a search may take, for one record; 0 as above.
		Time time.Duration `mapstructure:"time"`
	} `mapstructure:"budget"`

	// Slots is how many chunks the worker in this process works on at once, 0
	// to MaxSlots; 0 is one a core. A worker elsewhere has its own setting.
	Slots int `mapstructure:"slots"`
	// Memory bounds the sets of states that searches in this process hold, all
	// slots together.
	Memory Size `mapstructure:"memory"`

	Tables struct {
		// Dir is the folder of files with large tables, which all processes of a
		// host share; "" is none.
		Dir string `mapstructure:"dir"`
		// Memory bounds the tables that this process holds at once; 0 builds
		// none. Those from files are no part of it.
		Memory Size `mapstructure:"memory"`
	} `mapstructure:"tables"`
}

// DefaultSubmit returns what holds where nothing is set. It is valid.
func DefaultSubmit() Submit {
	var s Submit
	s.NATS.Wait = 30 * time.Second
	s.Owner = "public"
	s.Window.Chunks = 256
	s.Window.Bytes = 32 << 20
	s.Memory = 1 << 30
	s.Tables.Memory = 256 << 20
	return s
}

// LoadSubmit is LoadWorker for the settings of submit.
func LoadSubmit(flags *pflag.FlagSet, bind Flags, file string) (Submit, error) {
	return load(DefaultSubmit(), flags, bind, file, Submit.check)
}

func (s Submit) check() problems {
	var p problems
	within(&p, "nats.wait", s.NATS.Wait, time.Second, day)
	s.NATS.Access.check(&p, s.NATS.URL)
	if !isToken(s.Owner) {
		p.add("owner", "1 to 64 letters, digits, - and _")
	}
	within(&p, "window.chunks", s.Window.Chunks, 1, MaxWindow)
	within(&p, "window.bytes", s.Window.Bytes, minWindowBytes, maxMemory)
	within(&p, "budget.states", s.Budget.States, 0, maxStates)
	within(&p, "budget.time", s.Budget.Time, 0, day)
	within(&p, "slots", s.Slots, 0, MaxSlots)
	within(&p, "memory", s.Memory, minSearchMemory, maxMemory)
	within(&p, "tables.memory", s.Tables.Memory, 0, maxMemory)
	return p
}

// isToken reports whether s can be part of a NATS subject and means nothing
// there.
func isToken(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return 1 <= len(s) && len(s) <= limit.Token && strings.Trim(s, letters) == ""
}
