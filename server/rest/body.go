// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// boundBody gives the body of a request that much time to come. Only then does the
// bound end: a watch may last.
func boundBody(next http.Handler, within time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && r.Body != http.NoBody {
			conn := http.NewResponseController(w)
			if conn.SetReadDeadline(time.Now().Add(within)) == nil {
				r.Body = &boundedBody{ReadCloser: r.Body, conn: conn}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// boundedBody lifts the bound when the body has been read.
type boundedBody struct {
	io.ReadCloser
	conn *http.ResponseController
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
