// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package testimage

import (
	"net/http"
	"sync/atomic"
	"time"
)

// SlowDoor is a way into a registry on which bytes take their time.
type SlowDoor struct {
	Host   string
	active atomic.Int32
}

// Active is how many requests it is serving.
func (d *SlowDoor) Active() int { return int(d.active.Load()) }

// Throttled opens a door that sends so many bytes a second to each request.
func (r *Registry) Throttled(bytesPerSecond int) *SlowDoor {
	return r.slow(func(w http.ResponseWriter, req *http.Request) http.ResponseWriter {
		return &slowWriter{w, req, bytesPerSecond}
	})
}

// Stalling opens a door that sends so many bytes to each request, and then nothing
// until its client goes.
func (r *Registry) Stalling(after int) *SlowDoor {
	return r.slow(func(w http.ResponseWriter, req *http.Request) http.ResponseWriter {
		return &shortWriter{w, after, func() { <-req.Context().Done() }}
	})
}

func (r *Registry) slow(wrap func(http.ResponseWriter, *http.Request) http.ResponseWriter) *SlowDoor {
	d := &SlowDoor{}
	d.Host = r.door(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		d.active.Add(1)
		defer d.active.Add(-1)
		r.handler.ServeHTTP(wrap(w, req), req)
	}))
	return d
}

// slowWriter sends its bytes in slices of a tenth of a second.
type slowWriter struct {
	http.ResponseWriter
	request *http.Request
	rate    int
}

func (w *slowWriter) Write(p []byte) (int, error) {
	ticker := time.NewTicker(time.Second / 10)
	defer ticker.Stop()
	sent := 0
	for sent < len(p) {
		n, err := w.ResponseWriter.Write(p[sent:min(len(p), sent+max(1, w.rate/10))])
		sent += n
		if err != nil {
			return sent, err
		}
		w.ResponseWriter.(http.Flusher).Flush()
		select {
		case <-w.request.Context().Done():
			return sent, w.request.Context().Err()
		case <-ticker.C:
		}
	}
	return sent, nil
}

// shortWriter sends its first bytes, and does something else before any other.
type shortWriter struct {
	http.ResponseWriter
	left int
	then func()
}

func (w *shortWriter) Write(p []byte) (int, error) {
	if len(p) <= w.left {
		w.left -= len(p)
		return w.ResponseWriter.Write(p)
	}
	n, err := w.ResponseWriter.Write(p[:w.left])
	w.left -= n
	if err != nil {
		return n, err
	}
	w.ResponseWriter.(http.Flusher).Flush()
	w.then()
	return n, http.ErrHandlerTimeout
}
