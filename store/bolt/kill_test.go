// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	bbolt "go.etcd.io/bbolt"

	"github.com/berth-run/berth/store"
)

const (
	// childEnv names the store that the re-executed test binary writes to.
	childEnv    = "BERTH_STORE_KILL_TEST"
	killWriters = 4
	killLog     = 300
	// killWindow is how many of its own keys a writer leaves behind.
	killWindow = 20
)

// TestKill kills a writing process a hundred times. All that it acknowledged
// must be there, and nothing half.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := 100
	if raceDetector || testing.Short() {
		rounds = 20
	}
	path := filepath.Join(t.TempDir(), "store.db")
	for round := range rounds {
		acked := killOnce(t, path, 1+rand.IntN(60))
		s := mustOpen(t, path, Options{LogEvents: killLog})
		for i := range killWriters {
			checkWriter(t, s, i, acked[i])
		}
		checkHistory(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

// killOnce starts a writer, kills it after n acknowledgements, and returns the
// last one of each writer that it managed to send.
func killOnce(t *testing.T, path string, n int) map[int]int {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	acked := map[int]int{}
	lines := bufio.NewScanner(out)
	for count := 1; lines.Scan(); count++ {
		var writer, step int
		if _, err := fmt.Sscan(lines.Text(), &writer, &step); err != nil {
			t.Fatalf("the child said %q", lines.Text())
		}
		acked[writer] = step
		if count == n {
			child.Process.Kill()
		}
	}
	child.Wait()
	if len(acked) == 0 {
		t.Fatal("the child acknowledged nothing")
	}
	return acked
}

// runChild writes until it is killed.
func runChild(path string) int {
	s, err := Open(path, Options{LogEvents: killLog})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var group sync.WaitGroup
	for i := range killWriters {
		group.Go(func() {
			for {
				step, err := writeStep(s, i)
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				os.Stdout.WriteString(fmt.Sprintln(i, step))
			}
		})
	}
	group.Wait()
	return 0
}

// writeStep does a writer's next step: create a key, count up, delete an old
// key. It finds out by itself how far it had come.
func writeStep(s *Store, writer int) (int, error) {
	ctx := context.Background()
	step := lastStep(s, writer) + 1
	_, err := s.Create(ctx, stepKey(writer, step), stepValue(writer, step))
	if err != nil && !errors.Is(err, store.ErrExists) {
		return 0, err
	}
	_, err = s.Update(ctx, writerKey(writer), stepValue(writer, step), store.Any)
	if errors.Is(err, store.ErrNotFound) {
		_, err = s.Create(ctx, writerKey(writer), stepValue(writer, step))
	}
	if err != nil {
		return 0, err
	}
	for old := step - killWindow; old > step-killWindow-2; old-- {
		_, _, err = s.Delete(ctx, stepKey(writer, old), store.Any)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return 0, err
		}
	}
	return step, nil
}

// lastStep is the step that the writer has counted last.
func lastStep(s *Store, writer int) int {
	entry, err := s.Get(context.Background(), writerKey(writer))
	if err != nil {
		return 0
	}
	var step int
	fmt.Sscan(string(entry.Value), &step)
	return step
}

func writerKey(writer int) string     { return fmt.Sprintf("writer/%d", writer) }
func stepKey(writer, step int) string { return fmt.Sprintf("step/%d/%d", writer, step) }

// stepValue is what a step writes; its size varies from a few bytes to pages.
func stepValue(writer, step int) []byte {
	size := (step*step*31 + writer) % 7000
	return fmt.Append(nil, step, " ", strings.Repeat(string(rune('a'+step%26)), size))
}

// checkWriter compares a writer's keys with what it acknowledged.
func checkWriter(t *testing.T, s *Store, writer, acked int) {
	t.Helper()
	step := lastStep(s, writer)
	if step < acked {
		t.Errorf("writer %d: step %d is acknowledged, but %d is the last", writer, acked, step)
	}
	for i := max(1, step-killWindow+1); i <= step; i++ {
		entry, err := s.Get(context.Background(), stepKey(writer, i))
		if err != nil || !bytes.Equal(entry.Value, stepValue(writer, i)) {
			t.Errorf("writer %d: step %d of %d: %v, %.20q", writer, i, step, err, entry.Value)
		}
	}
	count := list(t, s, fmt.Sprintf("step/%d/", writer)).Entries
	if len(count) > killWindow+3 {
		t.Errorf("writer %d: %d keys", writer, len(count))
	}
}

// checkHistory goes through the log from the floor on, and must arrive at the
// current state.
func checkHistory(t *testing.T, s *Store) {
	t.Helper()
	floor := floorOf(t, s)
	page, err := s.List(context.Background(), "", store.ListOptions{Revision: floor})
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]string{}
	for _, entry := range page.Entries {
		state[entry.Key] = string(entry.Value)
	}
	events, err := s.past("", floor, s.hub.current.Load())
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events {
		if previous, exists := state[event.Key]; exists == (event.Type == store.Created) || previous != string(event.Prev) {
			t.Fatalf("event %d on %q does not follow the state before", event.Revision, event.Key)
		}
		state[event.Key] = string(event.Value)
		if event.Type == store.Deleted {
			delete(state, event.Key)
		}
	}
	current := map[string]string{}
	for _, entry := range list(t, s, "").Entries {
		current[entry.Key] = string(entry.Value)
	}
	if !maps.Equal(state, current) {
		t.Fatal("the log does not lead to the current state")
	}
}

func floorOf(t *testing.T, s *Store) (floor int64) {
	t.Helper()
	err := s.file.view(func(tx *bbolt.Tx) (err error) {
		floor, err = readFloor(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return floor
}

func list(t testing.TB, s *Store, prefix string) store.Page {
	t.Helper()
	page, err := s.List(context.Background(), prefix, store.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return page
}
