package config

import (
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"antipode/internal/secret"
)

// RedisTLS stands before the address of a Redis that takes TLS.
const RedisTLS = "rediss://"

// What of its answers a worker looks up and remembers.
const (
	CacheSearched = "searched" // those that took a search
	CacheAll      = "all"      // those read from tables too
	CacheNone     = "none"     // none
)

// How log lines are written.
const (
	LogAuto = "auto" // as text to a terminal, as JSON to anything else
	LogText = "text" // key=value
	LogJSON = "json" // one object a line
)

// Worker is everything that can be set of cmd/worker.
type Worker struct {
	NATS struct {
		// URL of the server, or several with commas between them.
		URL string `mapstructure:"url"`
		// Replicas is how many servers of a cluster keep each stream that this
		// worker creates: 1, 3 or 5.
		Replicas int `mapstructure:"replicas"`
		Access   `mapstructure:",squash"`
	} `mapstructure:"nats"`

	Redis struct {
		// Addr is host:port of the server that keeps answers, after RedisTLS where
		// it takes TLS; "" is none.
		Addr        string `mapstructure:"addr"`
		RedisAccess `mapstructure:",squash"`
	} `mapstructure:"redis"`

	Cache struct {
		// Mode is CacheSearched, CacheAll or CacheNone.
		Mode string `mapstructure:"mode"`
		// Memory bounds the answers kept in the process; 0 keeps none.
		Memory Size `mapstructure:"memory"`
		// TTL is how long Redis keeps an answer; 0 is until it needs the room.
		TTL time.Duration `mapstructure:"ttl"`
		// Secret authenticates the answers in Redis; "" trusts Redis.
		Secret secret.Text `mapstructure:"secret"`
	} `mapstructure:"cache"`

	// Slots is how many bulk chunks are worked on at once, 0 to MaxSlots; 0 is
	// one a core. Slots for small jobs and for questions come on top.
	Slots int `mapstructure:"slots"`
	// Memory bounds the sets of states that searches hold, all slots together.
	Memory Size `mapstructure:"memory"`

	Tables struct {
		// Dir is the folder of files with large tables, which all workers of a host
		// share; "" is none.
		Dir string `mapstructure:"dir"`
		// Memory bounds the tables held at once; 0 builds none. Those from files
		// are no part of it.
		Memory Size `mapstructure:"memory"`
	} `mapstructure:"tables"`

	Budget struct {
		// States is how many states a search may keep, for one record.
		States int64 `mapstructure:"states"`
		// Time is how long a search may take, for one record.
		Time time.Duration `mapstructure:"time"`
	} `mapstructure:"budget"`

	// Drain is how long held chunks may go on after the first signal.
	Drain time.Duration `mapstructure:"drain"`

	HTTP struct {
		// Listen is host:port or :port where /metrics, /livez and /readyz are
		// served; "" is none.
		Listen string `mapstructure:"listen"`
	} `mapstructure:"http"`

	Log struct {
		// Level is the lowest level that is logged.
		Level slog.Level `mapstructure:"level"`
		// Format is LogAuto, LogText or LogJSON.
		Format string `mapstructure:"format"`
	} `mapstructure:"log"`
}

// DefaultWorker returns what holds where nothing is set. It is valid.
func DefaultWorker() Worker {
	var w Worker
	w.NATS.URL = "nats://127.0.0.1:4222"
	w.NATS.Replicas = 1
	w.Cache.Mode = CacheSearched
	w.Cache.Memory = 64 << 20
	w.Cache.TTL = 30 * 24 * time.Hour
	w.Memory = 1 << 30
	w.Tables.Memory = 256 << 20
	w.Budget.States = 50_000_000
	w.Budget.Time = 30 * time.Second
	w.Drain = 20 * time.Second
	w.Log.Level = slog.LevelInfo
	w.Log.Format = LogAuto
	return w
}

// LoadWorker reads the worker's settings, from where the package comment says.
// The file is "" for the one that FileVariable names, or none. Flags may be nil
// where bind is empty.
//
// The error joins one for every value that is wrong, each with the key, the
// value, where it came from and what is accepted.
func LoadWorker(flags *pflag.FlagSet, bind Flags, file string) (Worker, error) {
	return load(DefaultWorker(), flags, bind, file, Worker.check)
}

func (w Worker) check() problems {
	var p problems
	p.filled("nats.url", w.NATS.URL)
	p.replicas("nats.replicas", w.NATS.Replicas)
	w.NATS.Access.check(&p, w.NATS.URL)
	p.redisAddress("redis.addr", w.Redis.Addr)
	w.Redis.RedisAccess.check(&p, w.Redis.Addr)
	p.oneOf("cache.mode", w.Cache.Mode, CacheSearched, CacheAll, CacheNone)
	within(&p, "cache.memory", w.Cache.Memory, 0, maxMemory)
	if w.Cache.TTL != 0 {
		within(&p, "cache.ttl", w.Cache.TTL, time.Second, 10*year)
	}
	within(&p, "slots", w.Slots, 0, MaxSlots)
	within(&p, "memory", w.Memory, minSearchMemory, maxMemory)
	within(&p, "tables.memory", w.Tables.Memory, 0, maxMemory)
	within(&p, "budget.states", w.Budget.States, 1, maxStates)
	within(&p, "budget.time", w.Budget.Time, time.Millisecond, day)
	within(&p, "drain", w.Drain, 0, day)
	p.listen("http.listen", w.HTTP.Listen)
	p.oneOf("log.format", w.Log.Format, LogAuto, LogText, LogJSON)
	return p
}
