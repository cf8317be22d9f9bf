package version

import (
	"strings"
	"testing"
)

func TestSemVer(t *testing.T) {
	for _, c := range []struct{ version, want string }{
		{"v1.2.3", "1.2.3"},
		{"v0.4.0-rc.1", "0.4.0-rc.1"},
		{"v0.0.0-20260102030405-0123456789ab+dirty", "0.0.0-20260102030405-0123456789ab+dirty"},
		{"v1.2.3+incompatible", "1.2.3+incompatible"},
		{"(devel)", "0.0.0-dev"},
		{"", "0.0.0-dev"},
		{"v1.2", "0.0.0-dev"},
		{"v01.2.3", "0.0.0-dev"},
		{"v1.2.3-", "0.0.0-dev"},
		{"v1.2.3-01", "0.0.0-dev"},
		{"vv1.2.3", "0.0.0-dev"},
		{"v1.2.3\n", "0.0.0-dev"},
	} {
		if got := semVer(c.version); got != c.want {
			t.Errorf("%q: %s, want %s", c.version, got, c.want)
		}
	}
	if v := SemVer(); !semVerForm.MatchString(v) {
		t.Errorf("this build is of version %q", v)
	}
}

// A build that saw no repository has the version that it was given.
func TestGivenVersion(t *testing.T) {
	defer func() { build = "" }()
	build = "v1.2.3-4-gabcdef0"
	if v := SemVer(); v != "1.2.3-4-gabcdef0" {
		t.Errorf("SemVer is %s", v)
	}
	if v := String(); !strings.HasPrefix(v, "v1.2.3-4-gabcdef0") {
		t.Errorf("String is %s", v)
	}
}
