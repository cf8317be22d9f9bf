package queue

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"antipode/internal/secret"
)

// Access says who this is to NATS, and how the connection is encrypted. At most
// one of User, Token, NKey and Creds is given.
type Access struct {
	User     string // with Password
	Password secret.Text
	Token    secret.Text
	NKey     string // a file with the seed of a user
	Creds    string // a file with a user's JWT and seed

	TLS struct {
		CA        string // a file that the server's certificate is checked with, in PEM; "" is the system's
		Cert, Key string // files of the client's certificate, in PEM; "" is none
	}
}

// WorkerInbox is where a worker gets what it asked for. Inboxes are private: who
// may read one is in the permissions of the server, by its prefix.
const WorkerInbox = "_INBOX.worker"

// SubmitInbox is where a submitter of an owner gets what it asked for.
func SubmitInbox(owner string) string { return "_INBOX.submit." + owner }

// options reads the files once, so that one which is of no use is an error now and
// not a connection that is tried for ever. They are read again for each
// connection, and may be renewed meanwhile.
func (a Access) options() ([]nats.Option, error) {
	var opts []nats.Option
	switch {
	case a.User != "":
		opts = append(opts, nats.UserInfo(a.User, string(a.Password)))
	case a.Token != "":
		opts = append(opts, nats.Token(string(a.Token)))
	case a.NKey != "":
		nkey, err := nats.NkeyOptionFromSeed(a.NKey)
		if err != nil {
			return nil, fmt.Errorf("nkey of NATS in %s: %w", a.NKey, err)
		}
		opts = append(opts, nkey)
	case a.Creds != "":
		creds := nats.UserCredentials(a.Creds)
		if err := usable(creds); err != nil {
			return nil, fmt.Errorf("credentials of NATS in %s: %w", a.Creds, err)
		}
		opts = append(opts, creds)
	}
	if a.TLS.CA != "" {
		opts = append(opts, nats.RootCAs(a.TLS.CA))
	}
	if a.TLS.Cert != "" {
		cert := nats.ClientCert(a.TLS.Cert, a.TLS.Key)
		if err := cert(&nats.Options{}); err != nil {
			return nil, fmt.Errorf("certificate for NATS, %s and %s: %w", a.TLS.Cert, a.TLS.Key, err)
		}
		opts = append(opts, cert)
	}
	return opts, nil
}

// usable asks a user's credentials for what each connection asks them.
func usable(creds nats.Option) error {
	var o nats.Options
	if err := creds(&o); err != nil {
		return err
	}
	if _, err := o.UserJWT(); err != nil {
		return err
	}
	_, err := o.SignatureCB([]byte("anything"))
	return err
}
