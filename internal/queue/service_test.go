package queue

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/micro"
)

// A worker answers as micro services do, to all, to those of its name, and to its
// own id.
func TestMicroService(t *testing.T) {
	q := connect(t, startServer(t).URL(), lenient())
	present(t, q, serviceOf(newWorker(t, q)))
	ask(t, q, "eight", "1 4 2 3 0 5 6 7 8")
	ask(t, q, "nine", "1")
	get := func(subject string, to any) {
		t.Helper()
		m, err := q.nc.Request(subject, nil, patience)
		if err == nil {
			err = json.Unmarshal(m.Data, to)
		}
		if err != nil {
			t.Fatal(subject, err)
		}
	}
	var ping micro.Ping
	get("$SRV.PING", &ping)
	if ping.Name != "antipode" || ping.ID == "" || ping.Version != "1.2.3" || ping.Type != "io.nats.micro.v1.ping_response" {
		t.Errorf("ping %+v", ping)
	}
	for _, of := range []string{"", ".antipode", ".antipode." + ping.ID} {
		var again micro.Ping
		var info micro.Info
		var stats micro.Stats
		get("$SRV.PING"+of, &again)
		get("$SRV.INFO"+of, &info)
		get("$SRV.STATS"+of, &stats)
		if again.ID != ping.ID || info.ID != ping.ID || stats.ID != ping.ID {
			t.Errorf("%s: other ids: %s %s %s, want %s", of, again.ID, info.ID, stats.ID, ping.ID)
		}
		if info.Type != "io.nats.micro.v1.info_response" || len(info.Endpoints) != 1 || info.Endpoints[0].Subject != "antipode.v1.solve.*" || info.Metadata["slots"] != "1" {
			t.Errorf("info %+v", info)
		}
		if stats.Type != "io.nats.micro.v1.stats_response" || len(stats.Endpoints) != 1 || stats.Started.IsZero() {
			t.Fatalf("stats %+v", stats)
		}
		if e := stats.Endpoints[0]; e.NumRequests != 2 || e.NumErrors != 1 || !strings.HasPrefix(e.LastError, "400:unknown puzzle") || e.ProcessingTime <= 0 || e.AverageProcessingTime > e.ProcessingTime {
			t.Errorf("stats %+v", e)
		}
	}
}
