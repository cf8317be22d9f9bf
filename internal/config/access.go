package config

import (
	"strings"

	"antipode/internal/secret"
)

// Access says who a program is to NATS, and how the connection is encrypted.
// Nothing set is a connection without credentials. It converts to queue.Access.
type Access struct {
	// User comes with Password.
	User     string      `mapstructure:"user"`
	Password secret.Text `mapstructure:"password"`
	// Token stands in the place of both.
	Token secret.Text `mapstructure:"token"`
	// NKey is a file with the seed of a user's NKey.
	NKey string `mapstructure:"nkey"`
	// Creds is a file with a user's JWT and seed.
	Creds string `mapstructure:"creds"`

	TLS struct {
		// CA is a file with the certificates, in PEM, that a server's is checked
		// with; "" is those of the system.
		CA string `mapstructure:"ca"`
		// Cert and Key are files with the client's certificate and its key, in PEM.
		Cert string `mapstructure:"cert"`
		Key  string `mapstructure:"key"`
	} `mapstructure:"tls"`
}

// RedisAccess says who a worker is to Redis, and how the connection is encrypted.
// It converts to cache.Access.
type RedisAccess struct {
	// User comes with Password; a Password alone is the default user's.
	User     string      `mapstructure:"user"`
	Password secret.Text `mapstructure:"password"`

	TLS struct {
		// CA, Cert and Key are as those of NATS.
		CA   string `mapstructure:"ca"`
		Cert string `mapstructure:"cert"`
		Key  string `mapstructure:"key"`
	} `mapstructure:"tls"`
}

// check refuses what cannot be meant. Which of several credentials would count
// is nothing to guess.
func (a Access) check(p *problems, address string) {
	given := []string{}
	for _, c := range []struct{ key, value string }{
		{"nats.user", a.User}, {"nats.token", string(a.Token)}, {"nats.nkey", a.NKey}, {"nats.creds", a.Creds},
	} {
		if c.value != "" {
			given = append(given, c.key)
		}
	}
	if len(given) > 0 && strings.Contains(address, "@") {
		given = append([]string{"nats.url"}, given...) // it names a user, or holds a token
	}
	if len(given) > 1 {
		p.conflict("one of them, since each says who this is", given...)
	}
	p.together("nats.user", a.User, "nats.password", string(a.Password))
	p.together("nats.tls.cert", a.TLS.Cert, "nats.tls.key", a.TLS.Key)
}

func (a RedisAccess) check(p *problems, address string) {
	if a.User != "" && a.Password == "" {
		p.conflict("redis.password with it", "redis.user")
	}
	if a.TLS.CA+a.TLS.Cert+a.TLS.Key != "" && address != "" && !strings.HasPrefix(address, RedisTLS) {
		p.conflict(RedisTLS+" before it, since there are files for TLS", "redis.addr")
	}
	p.together("redis.tls.cert", a.TLS.Cert, "redis.tls.key", a.TLS.Key)
}

// together wants both of two values, or none.
func (p *problems) together(key, v, other, w string) {
	switch {
	case v != "" && w == "":
		p.conflict(other+" with it", key)
	case v == "" && w != "":
		p.conflict(key+" with it", other)
	}
}

// conflict wants something of the settings that it names, whatever their values
// are, which are not shown.
func (p *problems) conflict(want string, keys ...string) {
	*p = append(*p, problem{key: keys[0], others: keys[1:], want: want, hide: true})
}
