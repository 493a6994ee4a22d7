// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pulled

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

var private = Pull{Image: "registry.test/private:1", Repository: "registry.test/private"}

// from is a login from a secret; from no secret it is the node's.
func from(secret, password string) *credentials.Credential {
	c := &credentials.Credential{Auth: &runtimeapi.AuthConfig{Username: "u", Password: password}}
	if secret != "" {
		c.Secret = &credentials.Secret{Namespace: "ns", Name: secret, UID: types.UID("uid of " + secret)}
	}
	return c
}

func (s *Store) pull(t *testing.T, p Pull, before, id string, with *credentials.Credential) {
	t.Helper()
	if err := s.Begin(p, before); err != nil {
		t.Fatal(err)
	}
	if err := s.Succeeded(p, id, with); err != nil {
		t.Fatal(err)
	}
}

func TestMayUse(t *testing.T) {
	none := func(*testing.T, *Store) {}
	pulledWith := func(c *credentials.Credential) func(*testing.T, *Store) {
		return func(t *testing.T, s *Store) { s.pull(t, private, "", "id", c) }
	}
	other := Pull{Image: "registry.test/public:1", Repository: "registry.test/public"}
	for name, tc := range map[string]struct {
		before func(*testing.T, *Store)
		with   *credentials.Credential
		want   bool
	}{
		"of an archive":              {none, nil, true},
		"pulled without a login":     {pulledWith(nil), nil, true},
		"pulled with the node's":     {pulledWith(from("", "p")), nil, true},
		"without a login":            {pulledWith(from("a", "p")), nil, false},
		"with another login":         {pulledWith(from("a", "p")), from("b", "q"), false},
		"with the same secret":       {pulledWith(from("a", "p")), from("a", "p"), true},
		"with the secret as it is":   {pulledWith(from("a", "p")), from("a", "changed"), true},
		"with the login of another":  {pulledWith(from("a", "p")), from("b", "p"), true},
		"with the login of the node": {pulledWith(from("a", "p")), from("", "p"), true},
		"by another name": {func(t *testing.T, s *Store) {
			s.pull(t, private, "", "id", from("a", "p"))
			s.pull(t, other, "", "id", nil)
		}, nil, false},
		"of an archive, pulled later": {func(t *testing.T, s *Store) { s.pull(t, private, "id", "id", from("a", "p")) }, nil, true},
		"free for all by now": {func(t *testing.T, s *Store) {
			s.pull(t, private, "", "id", from("a", "p"))
			s.pull(t, private, "id", "id", nil)
		}, nil, true},
		"whose pull outlived the agent": {func(t *testing.T, s *Store) { _ = s.Begin(private, "") }, from("a", "p"), false},
		"whose pull outlived the agent, proved since": {func(t *testing.T, s *Store) {
			_ = s.Begin(private, "")
			NewStore(filepath.Dir(s.records.dir)).pull(t, private, "id", "id", from("a", "p"))
		}, nil, false},
		"that was there before a pull": {func(t *testing.T, s *Store) { _ = s.Begin(private, "id") }, nil, true},
		"that came although its pull failed": {func(t *testing.T, s *Store) {
			_ = s.Begin(private, "")
			_ = s.Failed(private, "id")
		}, nil, false},
		"whose pull failed": {func(t *testing.T, s *Store) {
			_ = s.Begin(private, "id")
			_ = s.Failed(private, "id")
		}, nil, true},
	} {
		dir := t.TempDir()
		tc.before(t, NewStore(dir))
		var logins []credentials.Credential
		if tc.with != nil {
			logins = append(logins, *tc.with)
		}
		// Another store: what counts outlives the agent.
		if may, err := NewStore(dir).MayUse(private, "id", logins); may != tc.want || err != nil {
			t.Errorf("an image %s: %t, %v", name, may, err)
		}
	}
}

func TestTheIntentStaysUntilTheLastPullEnds(t *testing.T) {
	s := NewStore(t.TempDir())
	for range 2 {
		if err := s.Begin(private, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []bool{false, true} {
		if err := s.Failed(private, ""); err != nil {
			t.Fatal(err)
		}
		if may, err := s.MayUse(private, "id", nil); may != want || err != nil {
			t.Errorf("%t, %v; want %t", may, err, want)
		}
	}
}

func TestARecordThatCannotBeReadLetsNobodyIn(t *testing.T) {
	s := NewStore(t.TempDir())
	s.pull(t, private, "", "id", nil)
	if err := os.WriteFile(s.records.path("id"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if may, err := s.MayUse(private, "id", nil); may || err == nil {
		t.Errorf("%t, %v", may, err)
	}
	s.pull(t, private, "id", "id", nil)
	if may, err := s.MayUse(private, "id", nil); !may || err != nil {
		t.Errorf("after another pull: %t, %v", may, err)
	}
}

func TestRecordsAreBounded(t *testing.T) {
	s := NewStore(t.TempDir())
	for i := range maxLogins + 5 {
		s.pull(t, private, "", "id", from(fmt.Sprint(i), fmt.Sprint(i)))
	}
	r, err := s.record("id")
	if err != nil || len(r.Repositories[private.Repository].Logins) != maxLogins {
		t.Errorf("%d logins, %v", len(r.Repositories[private.Repository].Logins), err)
	}
	may := func(secret string) bool {
		ok, _ := s.MayUse(private, "id", []credentials.Credential{*from(secret, secret)})
		return ok
	}
	if may("4") || !may("5") || !may(fmt.Sprint(maxLogins+4)) {
		t.Error("not the newest are kept")
	}
}

func TestPrune(t *testing.T) {
	s := NewStore(t.TempDir())
	s.pull(t, private, "", "id", from("a", "p"))
	s.pull(t, private, "", "gone", from("a", "p"))
	lost := Pull{Image: "registry.test/lost:1", Repository: "registry.test/lost"}
	for _, p := range []Pull{private, lost} {
		if err := s.Begin(p, ""); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Prune(sets.New("id"), func(image string) (bool, error) { return image == private.Image, nil })
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		s.records.path("id"): true, s.records.path("gone"): false,
		s.intents.path(private.Image): true, s.intents.path(lost.Image): false,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it to be there: %t", path, err, want)
		}
	}
	if err := NewStore(filepath.Join(t.TempDir(), "none")).Prune(nil, nil); err != nil {
		t.Error(err)
	}
}

func TestFilesTellNoLoginAndAreForRootAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "images")
	s := NewStore(dir)
	s.pull(t, private, "", "id", from("a", "s3cret"))
	if err := s.Begin(private, ""); err != nil {
		t.Fatal(err)
	}
	found := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found++
		info, err := d.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "s3cret") {
			t.Errorf("%s: %s, %v", path, data, err)
		}
		return nil
	})
	if err != nil || found != 2 {
		t.Errorf("%d files, %v", found, err)
	}
}
