//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"antipode/internal/process"
)

// memory is what a running program has resident, and had at the most, in bytes. It
// is known on Linux only; elsewhere it is 0.
type memory struct{ now, most int64 }

func memoryOf(p *process.Process) (m memory) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	if err != nil {
		return m
	}
	for line := range bytes.Lines(text) {
		name, rest, _ := bytes.Cut(line, []byte(":"))
		number, _, _ := bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
		kib, _ := strconv.ParseInt(string(number), 10, 64)
		switch string(name) {
		case "VmRSS":
			m.now = kib << 10
		case "VmHWM":
			m.most = kib << 10
		}
	}
	return m
}

// watchMemory looks at a program's memory until it ends, or ctx does, and then gives
// what it had at the most.
func watchMemory(ctx context.Context, p *process.Process) <-chan int64 {
	most := make(chan int64, 1)
	go func() {
		tick := time.NewTicker(pollTime)
		defer tick.Stop()
		var peak int64
		for {
			peak = max(peak, memoryOf(p).most)
			select {
			case <-tick.C:
				continue
			case <-p.Gone():
			case <-ctx.Done():
			}
			most <- peak
			return
		}
	}()
	return most
}
