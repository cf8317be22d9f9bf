package config

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds on settings. They refuse slips of the hand (a missing unit, a zero too
// many), not bold choices.
const (
	MaxSlots  = 1024  // bulk slots of a worker
	MaxWindow = 65536 // chunks published and not yet written

	minSearchMemory Size = 16 << 20 // below it hardly any search ends
	minWindowBytes  Size = 1 << 20  // the largest message of a NATS server
	maxMemory       Size = 1 << 44  // 16 TiB

	maxStates = int64(1) << 40 // more than maxMemory holds

	day  = 24 * time.Hour
	year = 365 * day
)

// problem is a value that cannot be used, and what could be.
type problem struct {
	key    string
	others []string // further keys, where values do not go together
	want   string   // a noun phrase: what is accepted
	hide   bool     // the value says nothing, or too much
}

// problems are all that is wrong, in the order of the settings.
type problems []problem

func (p *problems) add(key, want string) {
	*p = append(*p, problem{key: key, want: want})
}

// within wants min <= v <= max.
func within[T cmp.Ordered](p *problems, key string, v, min, max T) {
	if v < min || v > max {
		p.add(key, fmt.Sprintf("%v to %v", min, max))
	}
}

func (p *problems) oneOf(key, v string, words ...string) {
	if !slices.Contains(words, v) {
		p.add(key, "one of "+strings.Join(words, ", "))
	}
}

// replicas wants numbers of servers of which more than half are left when some
// are lost; one more would bear no more losses.
func (p *problems) replicas(key string, n int) {
	if n != 1 && n != 3 && n != 5 {
		p.add(key, "1, 3 or 5")
	}
}

func (p *problems) filled(key, v string) {
	if v == "" {
		p.add(key, "a value; leave it out for the default")
	}
}

// redisAddress wants host:port, with TLS before it or not, or nothing.
func (p *problems) redisAddress(key, v string) {
	if v == "" {
		return
	}
	host, port, err := net.SplitHostPort(strings.TrimPrefix(v, RedisTLS))
	if err != nil || host == "" || port == "" || strings.ContainsAny(host, "/@") {
		p.add(key, "host:port, "+RedisTLS+"host:port, or nothing for none")
	}
}

// listen wants host:port or :port, or nothing.
func (p *problems) listen(key, v string) {
	if v == "" {
		return
	}
	_, port, err := net.SplitHostPort(v)
	if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || port != strconv.FormatUint(n, 10) {
		p.add(key, "host:port or :port, or nothing for none")
	}
}
