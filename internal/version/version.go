// Package version tells which build this is.
package version

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// String returns the module's version, or the commit, and the toolchain, as far
// as the build recorded them.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown, " + runtime.Version()
	}
	version, commit, dirty := info.Main.Version, "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = ", modified"
		}
	}
	if version == "" || version == "(devel)" {
		version = "development"
	}
	if commit != "" {
		version += " (" + commit + dirty + ")"
	}
	return fmt.Sprintf("%s, %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
