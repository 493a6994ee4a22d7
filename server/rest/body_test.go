// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestABodyThatNeverComes holds its request for a while, not for ever; what comes
// in time may be answered later.
func TestABodyThatNeverComes(t *testing.T) {
	const within = 200 * time.Millisecond
	s := httptest.NewServer(boundBody(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		select {
		case <-r.Context().Done():
			w.WriteHeader(http.StatusGone)
		case <-time.After(2 * within):
		}
	}), within))
	defer s.Close()
	for body, want := range map[string]int{"": http.StatusBadRequest, "done": http.StatusOK} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n%s", body)
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != want {
			t.Errorf("body %q: %v, %v, want %d", body, err, resp, want)
		}
	}
}
