package cache

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"strings"

	"antipode/internal/secret"
)

// Access says who this is to Redis, and how the connection is encrypted.
type Access struct {
	User     string // "" with a password is the default user
	Password secret.Text

	TLS struct {
		CA        string // a file that the server's certificate is checked with, in PEM; "" is the system's
		Cert, Key string // files of the client's certificate, in PEM; "" is none
	}
}

// redisTLS stands before the address of a Redis that takes TLS.
const redisTLS = "rediss://"

// tls reads the files, once: a certificate that is replaced counts from the next
// start on. It returns nil for an address without TLS.
func (a Access) tls(address string) (*tls.Config, error) {
	if !strings.HasPrefix(address, redisTLS) {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.TLS.CA != "" {
		text, err := os.ReadFile(a.TLS.CA)
		if err != nil {
			return nil, fmt.Errorf("certificates to check Redis with: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("certificates to check Redis with: %s holds none in PEM", a.TLS.CA)
		}
	}
	if a.TLS.Cert != "" {
		pair, err := tls.LoadX509KeyPair(a.TLS.Cert, a.TLS.Key)
		if err != nil {
			return nil, fmt.Errorf("certificate for Redis, %s and %s: %w", a.TLS.Cert, a.TLS.Key, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
