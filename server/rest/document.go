// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// document is what does not change while the server runs. It is made on its first
// request and kept as bytes.
type document func() *documentBytes

type documentBytes struct {
	body []byte
	// hash of the body: the same after every start.
	hash string
	err  error
}

func newDocument(make func() ([]byte, error)) document {
	return sync.OnceValue(func() *documentBytes {
		body, err := make()
		sum := sha256.Sum256(body)
		return &documentBytes{body: body, hash: hex.EncodeToString(sum[:]), err: err}
	})
}

func jsonDocument[T any](make func() T) document {
	return newDocument(func() ([]byte, error) { return json.Marshal(make()) })
}

// serve answers with the document, or with 304 if the client has it.
func (d document) serve(w http.ResponseWriter, r *http.Request, contentType string) {
	doc := d()
	if doc.err != nil {
		writeError(w, r, doc.err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("ETag", strconv.Quote(doc.hash))
	h.Add("Vary", "Accept")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(doc.body))
}

// serveJSON answers with the document whatever the client accepts.
func (d document) serveJSON(w http.ResponseWriter, r *http.Request) {
	d.serve(w, r, string(mediaJSON))
}
