package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"antipode/internal/job"
)

// maxReason bounds what is read of an answer to a probe, and of its headers, in bytes.
const maxReason = 4 << 10

// Probe asks the worker on this host that serves at an address, as Listen takes it,
// whether it is ready. The error says why it is not, or that nobody answers.
func Probe(ctx context.Context, address string) error {
	url, err := readyURL(address)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true, MaxResponseHeaderBytes: maxReason} // and no proxy
	res, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxReason))
	if err != nil {
		return fmt.Errorf("ask %s: %w", url, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", cmp.Or(reason(string(text)), res.Status))
	}
	return nil
}

// reason is what a probe was told, in a line. It is printed, and who listens there may
// be no worker.
func reason(text string) string {
	return job.Printable(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
}

// readyURL is where a worker that listens at an address can be asked.
func readyURL(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if port == "0" {
		return "", errors.New("port 0 is any free port: only the worker knows which")
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost" // it listens everywhere
	}
	return "http://" + net.JoinHostPort(host, port) + "/readyz", nil
}
