// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// lagWatch is a watcher that notes when it sees each pod of a load for the first
// time. Like the other clients it reads no more of an event than it must.
type lagWatch struct {
	seen  []time.Time
	added chan struct{} // one for each pod
	err   error         // valid once added is closed
	conn  net.Conn
}

// watchLag follows the pods of a server: those whose number is below pods.
func watchLag(b *testing.B, address string, pods int) *lagWatch {
	b.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Write(rawRequest(http.MethodGet, address, podsPath+"?watch=true", "application/json", nil)); err != nil {
		b.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("watch: %v: %+v", err, response)
	}
	w := &lagWatch{seen: make([]time.Time, pods), added: make(chan struct{}, pods), conn: conn}
	go func() {
		defer close(w.added)
		w.err = w.follow(bufio.NewReaderSize(response.Body, 1<<20))
	}()
	return w
}

func (w *lagWatch) close() {
	w.conn.Close()
	for range w.added { // until follow has ended
	}
}

var (
	addedPrefix = []byte(`{"type":"ADDED"`)
	namePrefix  = []byte(`"name":"load-`)
)

func (w *lagWatch) follow(events *bufio.Reader) error {
	for {
		line, err := events.ReadSlice('\n')
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(line, addedPrefix) {
			continue
		}
		now := time.Now()
		_, rest, ok := bytes.Cut(line, namePrefix)
		if !ok {
			return fmt.Errorf("an event of no pod of the load: %s", line)
		}
		digits, _, _ := bytes.Cut(rest, []byte(`"`))
		i, err := strconv.Atoi(string(digits))
		if err != nil || i >= len(w.seen) {
			return fmt.Errorf("an event of no pod of the load: %s", line)
		}
		w.seen[i] = now
		w.added <- struct{}{}
	}
}

// await returns once n more pods were seen.
func (w *lagWatch) await(b *testing.B, n int) {
	b.Helper()
	timeout := time.After(eventTimeout)
	for seen := range n {
		select {
		case _, ok := <-w.added:
			if !ok {
				b.Fatalf("the watch ended: %v", w.err)
			}
		case <-timeout:
			b.Fatalf("the watch shows %d of %d pods after %s", seen, n, eventTimeout)
		}
	}
}

// noting notes when each request of a load was sent.
type noting struct {
	sender
	sent []time.Time
}

func (n noting) send(i int) error {
	n.sent[i] = time.Now()
	return n.sender.send(i)
}

// noteSent returns the senders, and when they will have sent each request.
func noteSent(senders []sender, n int) ([]sender, []time.Time) {
	sent := make([]time.Time, n)
	out := make([]sender, len(senders))
	for i, s := range senders {
		out[i] = noting{s, sent}
	}
	return out, sent
}
