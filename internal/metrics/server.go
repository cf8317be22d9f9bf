package metrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"antipode/internal/limit"
)

const (
	headTime  = 5 * time.Second  // to send a request
	writeTime = 10 * time.Second // to take an answer
	idleTime  = 10 * time.Second // between requests of a connection
	closeTime = time.Second      // for requests under way at the end
)

// Server serves a worker's metrics and health.
type Server struct {
	http *http.Server
	done chan struct{} // closed when nothing is accepted any more
}

// Listen serves /metrics, /livez and /readyz at an address until Close; with "" it
// serves nothing, and returns nil.
func (m *Metrics) Listen(address string, log *slog.Logger) (*Server, error) {
	if address == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serve metrics at %s (http.listen sets it): %w", address, err)
	}
	s := &Server{done: make(chan struct{}), http: &http.Server{
		Handler: m.handler(), ReadHeaderTimeout: headTime, ReadTimeout: headTime, WriteTimeout: writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: limit.HTTPHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
	log.Info("serving metrics and health", "address", l.Addr().String())
	go func() {
		defer close(s.done)
		if err := s.http.Serve(netutil.LimitListener(l, limit.HTTPConnections)); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics and health are served no more", "error", err)
		}
	}()
	return s, nil
}

func (m *Metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: limit.HTTPScrapes,
	}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if reasons := m.unready(); len(reasons) > 0 {
			say(w, http.StatusServiceUnavailable, strings.Join(reasons, "\n"))
			return
		}
		say(w, http.StatusOK, "ready")
	})
	return mux
}

// say answers in plain text.
func say(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // who went does not miss it
}

// Close lets requests under way end, for a second or until ctx ends, and then ends
// the others. It is nothing to a nil Server.
func (s *Server) Close(ctx context.Context) error {
	if s == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = s.http.Close()
	}
	<-s.done
	if err != nil {
		return fmt.Errorf("close metrics: %w", err)
	}
	return nil
}
