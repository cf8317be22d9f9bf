package metrics

import (
	"net/http"
	"strings"
	"testing"

	"antipode/internal/limit"
)

// Headers of a request from both sides of their limit, which the library passes by 4
// KiB.
func TestLimitOfHeaders(t *testing.T) {
	m, _ := newMetrics(t)
	s, url := serve(t, m)
	defer s.Close(t.Context())
	for bytes, want := range map[int]int{
		limit.HTTPHeader - 1<<10: http.StatusOK,
		limit.HTTPHeader + 5<<10: http.StatusRequestHeaderFieldsTooLarge,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/livez", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Long", strings.Repeat("x", bytes))
		client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Do(req)
		if err != nil {
			t.Fatalf("%d bytes: %v", bytes, err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%d bytes: status %d, want %d", bytes, res.StatusCode, want)
		}
	}
}
