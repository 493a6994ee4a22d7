// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import (
	"errors"
	"io/fs"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// NewHandler answers the requests of the server:
//
//	GET /v1/pods/{namespace}/{name}/{uid}/log/{container}
//	    ?follow=&attempt=&timestamps=&tailLines=&sinceSeconds=&sinceTime=&limitBytes=
//
// Without an attempt it is the newest. 404 means that the container has no such log, 400 that the query makes no
// sense; both come with a line of text.
func NewHandler(logs *Logs) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/pods/{namespace}/{name}/{uid}/log/{container}", logs.serve)
	return mux
}

func (l *Logs) serve(w http.ResponseWriter, r *http.Request) {
	opts, err := parseOptions(r.URL.Query(), time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	log, err := l.open(containerRef{
		namespace: r.PathValue("namespace"),
		name:      r.PathValue("name"),
		uid:       types.UID(r.PathValue("uid")),
		container: r.PathValue("container"),
	}, opts.attempt)
	if errors.Is(err, fs.ErrNotExist) {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if err != nil {
		l.logger.Warn("cannot open a log", "uid", r.PathValue("uid"), "err", err)
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer log.close()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	out := flusher{w, http.NewResponseController(w)}
	out.flush()
	if err := l.copy(r.Context(), out, log, opts); err != nil && r.Context().Err() == nil {
		l.logger.Warn("a log ends early", "uid", log.ref.uid, "err", err)
	}
}

// flusher is a response whose bytes can be sent on before it is full.
type flusher struct {
	http.ResponseWriter
	controller *http.ResponseController
}

// flush ignores its error: the next write has it again.
func (f flusher) flush() { _ = f.controller.Flush() }
