// Package profile writes profiles of a program's own run, for 'go tool pprof'.
package profile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/spf13/pflag"
)

// Files are where profiles go; "" is none.
type Files struct {
	CPU    string
	Memory string // what was allocated, and what was still in use at the end
}

// Flags adds the flags that set the files.
func (f *Files) Flags(flags *pflag.FlagSet) {
	flags.StringVar(&f.CPU, "cpuprofile", "", "write a profile of the processor's time to this `FILE`")
	flags.StringVar(&f.Memory, "memprofile", "", "write a profile of what was allocated to this `FILE`")
}

// Start starts to profile. Stop, to be called once however the run ends, writes
// the profiles. Both files are made at the start, so that one that cannot be
// written is known before there is work to lose.
func (f Files) Start() (stop func() error, err error) {
	var cpu, memory *os.File
	defer func() {
		if err != nil {
			err = errors.Join(err, closed(cpu), closed(memory))
		}
	}()
	if f.CPU != "" {
		if cpu, err = os.Create(f.CPU); err != nil {
			return nil, fmt.Errorf("--cpuprofile: %w", err)
		}
	}
	if f.Memory != "" {
		if memory, err = os.Create(f.Memory); err != nil {
			return nil, fmt.Errorf("--memprofile: %w", err)
		}
	}
	if cpu != nil {
		if err = pprof.StartCPUProfile(cpu); err != nil {
			return nil, fmt.Errorf("--cpuprofile: %w", err)
		}
	}
	return func() error {
		if cpu != nil {
			pprof.StopCPUProfile()
		}
		err := closed(cpu)
		if memory != nil {
			runtime.GC() // a profile of the heap is of the last collection
			err = errors.Join(err, pprof.Lookup("allocs").WriteTo(memory, 0), closed(memory))
		}
		if err != nil {
			return fmt.Errorf("write a profile: %w", err)
		}
		return nil
	}, nil
}

// closed closes a file, if there is one.
func closed(f *os.File) error {
	if f == nil {
		return nil
	}
	return f.Close()
}
