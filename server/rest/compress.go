// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// compressFrom is the size in bytes from which an answer is compressed, the same
// as in Kubernetes: below it, the work costs more than the way.
const compressFrom = 128 << 10

// compress answers in gzip where the client accepts it. What is streamed is left
// as it is: its pieces are small and must not wait for one another.
func compress(next http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(compressFrom), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		return nil, err
	}
	compressed := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, watch := unwatchedPath(watchPath(r.URL.Path, r.URL.Query())); watch || isLog(r) {
			next.ServeHTTP(w, r)
			return
		}
		compressed(w, r)
	}), nil
}
