// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	bbolt "go.etcd.io/bbolt"
)

// floorEnv has the test binary be the floor's server instead: its value is the
// address to listen on and the file to store in.
const floorEnv = "BERTH_BENCH_FLOOR"

func TestMain(m *testing.M) {
	if address, path, ok := strings.Cut(os.Getenv(floorEnv), " "); ok {
		fmt.Fprintln(os.Stderr, serveFloor(address, path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// startFloor starts the least server that could stand for berth's, a process of
// its own too: it stores the body of each request in a file, those that wait
// together in one synchronous commit, and answers with it. It returns its address.
func startFloor(b *testing.B, dir string) string {
	b.Helper()
	executable, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	address := freeAddress(b)
	p := exec.Command(executable)
	p.Env = append(os.Environ(), floorEnv+"="+address+" "+filepath.Join(dir, "floor.db"))
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	awaitHTTP(b, address, "/")
	return address
}

// awaitHTTP returns once a server answers.
func awaitHTTP(b *testing.B, address, path string) {
	b.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		response, err := http.Get("http://" + address + path)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			b.Fatalf("%s does not answer after a minute: %v", address, err)
		}
	}
}

// put is a body to be stored.
type put struct {
	body []byte
	done chan error
}

func serveFloor(address, path string) error {
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		return err
	}
	puts := make(chan put, clients)
	go commitFloor(db, puts)
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && r.Method == http.MethodPost {
			p := put{body, make(chan error, 1)}
			puts <- p
			err = <-p.done
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = w.Write(body)
	}))
}

// commitFloor stores what waits, again and again.
func commitFloor(db *bbolt.DB, puts <-chan put) {
	for first := range puts {
		runtime.Gosched() // whoever can run now shall be in this commit
		batch := []put{first}
		for len(puts) > 0 {
			batch = append(batch, <-puts)
		}
		err := db.Update(func(tx *bbolt.Tx) error { return putFloor(tx, batch) })
		for _, p := range batch {
			p.done <- err
		}
	}
}

func putFloor(tx *bbolt.Tx, batch []put) error {
	bucket, err := tx.CreateBucketIfNotExists([]byte("bodies"))
	if err != nil {
		return err
	}
	bucket.FillPercent = 1
	for _, p := range batch {
		n, err := bucket.NextSequence()
		if err != nil {
			return err
		}
		if err := bucket.Put(fmt.Appendf(nil, "%016x", n), p.body); err != nil {
			return err
		}
	}
	return nil
}
