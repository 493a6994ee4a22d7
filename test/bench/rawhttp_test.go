// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// rawHTTP is a client of one connection that costs next to nothing: it writes
// requests that were made before, and throws the answers away. Clients share the
// processors with the server, and must not be what is measured.
type rawHTTP struct {
	conn   net.Conn
	reader *bufio.Reader
	want   int // the status
	// requests are those of the load.
	requests [][]byte
}

func dialHTTP(b *testing.B, address string, want int, requests [][]byte) *rawHTTP {
	b.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	return &rawHTTP{conn, bufio.NewReaderSize(conn, 64<<10), want, requests}
}

// httpSenders are so many clients of a load.
func httpSenders(b *testing.B, address string, want int, requests [][]byte) []sender {
	b.Helper()
	out := make([]sender, clients)
	for i := range out {
		out[i] = dialHTTP(b, address, want, requests)
	}
	return out
}

func (c *rawHTTP) send(i int) error {
	_, err := c.exchange(c.requests[i])
	return err
}

// exchange returns the length of the answer's body.
func (c *rawHTTP) exchange(request []byte) (int64, error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != c.want {
		body, err := io.ReadAll(response.Body)
		return 0, fmt.Errorf("%.80q: %s: %s, %v", request, response.Status, body, err)
	}
	return io.Copy(io.Discard, response.Body)
}

// rawRequest is a request as it goes over the wire.
func rawRequest(method, host, path, accept string, body []byte) []byte {
	head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nAccept: %s\r\n", method, path, host, accept)
	if body != nil {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return append([]byte(head+"\r\n"), body...)
}
