// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package pulled

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/berth-run/berth/agent/podruntime/images/credentials"
)

// Store keeps records and intents below a directory. Of logins it has hashes only. It
// is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	records files
	intents files
	// pulls are those that are under way, by image.
	pulls map[string]*underWay
}

// NewStore keeps its files below dir, which need not exist yet.
func NewStore(dir string) *Store {
	return &Store{
		records: files{filepath.Join(dir, "records")},
		intents: files{filepath.Join(dir, "intents")},
		pulls:   map[string]*underWay{},
	}
}

// Pull is the image that a pod asks for.
type Pull struct {
	// Image is its name, with tag or digest.
	Image string
	// Repository is its name without them.
	Repository string
}

// intent is a pull that has begun.
type intent struct {
	Image string `json:"image"`
	// Before is the id that the name stood for then; empty for none.
	Before string `json:"before,omitempty"`
}

// underWay is an intent of so many pulls.
type underWay struct {
	intent
	count int
}

// MayUse tells whether a pod with these logins may use an image, which the runtime
// knows by that id, without a pull.
func (s *Store) MayUse(p Pull, id string, logins []credentials.Credential) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.record(id)
	if err != nil {
		return false, err
	}
	if r != nil {
		return r.Repositories[p.Repository].allows(logins), nil
	}
	var begun intent
	switch err := s.intents.read(p.Image, &begun); {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("intent to pull image %s: %w", p.Image, err)
	}
	return id == begun.Before, nil
}

// record returns what is known of an image; nil if nothing is.
func (s *Store) record(id string) (*record, error) {
	r := &record{}
	switch err := s.records.read(id, r); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("record of image %s: %w", id, err)
	}
	return r, nil
}

// Begin notes that the image is about to be pulled. before is the id that its name
// stands for now; empty for none. An intent that was left behind stands.
func (s *Store) Begin(p Pull, before string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u, ok := s.pulls[p.Image]; ok {
		u.count++
		return nil
	}
	u := &underWay{intent{Image: p.Image}, 1}
	if s.intents.read(p.Image, &u.intent) != nil {
		u.intent = intent{Image: p.Image, Before: before}
		if err := s.intents.write(p.Image, u.intent); err != nil {
			return fmt.Errorf("intent to pull image %s: %w", p.Image, err)
		}
	}
	s.pulls[p.Image] = u
	return nil
}

// Succeeded ends a pull that began, and notes the login that it was made with; nil
// for none. What came to the node by other means stays free. If it fails, the image
// is not free.
func (s *Store) Succeeded(p Pull, id string, with *credentials.Credential) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.add(p, id, with)
	return errors.Join(err, s.end(p, err != nil))
}

func (s *Store) add(p Pull, id string, with *credentials.Credential) error {
	r, err := s.record(id)
	if r == nil && err == nil && id == s.pulls[p.Image].Before {
		return nil
	}
	if r == nil { // also one that cannot be read
		r = &record{Image: id, Repositories: map[string]access{}}
	}
	had, ok := r.Repositories[p.Repository]
	has := had.with(with)
	if ok && has.equal(had) {
		return nil
	}
	r.Repositories[p.Repository] = has
	if err := s.records.write(id, r); err != nil {
		return fmt.Errorf("record of image %s: %w", id, err)
	}
	return nil
}

// Failed ends a pull that began. now is the id that the name stands for since: if that
// is new, the runtime had the image after all, and nobody has proved anything.
func (s *Store) Failed(p Pull, now string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.end(p, now != s.pulls[p.Image].Before)
}

// end ends a pull, and with the last of an image its intent, unless that is kept.
func (s *Store) end(p Pull, keep bool) error {
	u := s.pulls[p.Image]
	if u.count--; u.count > 0 {
		return nil
	}
	delete(s.pulls, p.Image)
	if keep {
		return nil
	}
	if err := s.intents.remove(p.Image); err != nil {
		return fmt.Errorf("intent to pull image %s: %w", p.Image, err)
	}
	return nil
}

// Prune forgets the images that the runtime does not have any more. It is for the
// agent's start, before there are pulls. ids are those of all images; has tells whether
// the runtime has one of a name.
func (s *Store) Prune(ids sets.Set[string], has func(image string) (bool, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(
		s.records.each(func(path string) error {
			var r record
			if readFile(path, &r) == nil && !ids.Has(r.Image) {
				return os.Remove(path)
			}
			return nil
		}),
		s.intents.each(func(path string) error {
			var i intent
			if readFile(path, &i) != nil {
				return nil
			}
			there, err := has(i.Image)
			if err == nil && !there {
				err = os.Remove(path)
			}
			return err
		}))
}
