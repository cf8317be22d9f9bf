// Package version tells which build this is.
package version

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
)

// build is the version where the linker was given one, since the build saw no
// repository: -X antipode/internal/version.build=v1.2.3.
var build string

// String returns the module's version, or the commit, and the toolchain, as far
// as the build recorded them.
func String() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown, " + runtime.Version()
	}
	version, commit, dirty := cmp.Or(build, info.Main.Version), "", ""
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

// development is the SemVer of a build that has no version.
const development = "0.0.0-dev"

// semVerForm is the form that semver.org gives.
var semVerForm = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)` +
	`(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// SemVer returns the module's version in the form of semver.org, which has no v
// before it: 0.0.0-dev where the build recorded none.
func SemVer() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return development
	}
	return semVer(cmp.Or(build, info.Main.Version))
}

func semVer(version string) string {
	if version = strings.TrimPrefix(version, "v"); semVerForm.MatchString(version) {
		return version
	}
	return development
}
