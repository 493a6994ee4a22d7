// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package rest serves the Kubernetes API over HTTP: the paths, bodies and errors
// that curl, kubectl and client-go know. Every verb on an object goes through a
// generated grpc-gateway handler into the services of package rpc, inside the
// process; what is no object is a plain handler beside it.
//
// A request passes: LoopbackOnly (where the listener asks for it) → accounting
// and panics → compression → a plain handler, or negotiation → gateway → service. The object
// in it is decoded once and encoded once; between, messages carry it encoded.
package rest

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/berth-run/berth/server/rpc"
)

// Options of the handler. The zero value logs nowhere and has no metrics.
type Options struct {
	Logger *slog.Logger
	// Metrics, where set, gets the handler's metrics.
	Metrics prometheus.Registerer
	// Gatherer is what /metrics shows.
	Gatherer prometheus.Gatherer
	// Ready are the checks of /readyz, Live those of /livez; /healthz has both.
	Ready, Live []Check
	// BodyTimeout bounds the time that a request's body may take; 30 s by default.
	BodyTimeout time.Duration
	// TokenKeys, where set, are the public keys of ServiceAccount tokens: a JSON Web Key
	// Set.
	TokenKeys any
	// Revision returns the store's newest, which lists of nothing show; 0 by default.
	Revision func() int64
}

const bodyTimeout = 30 * time.Second

// New returns the handler of the whole API over the services of s.
func New(s *rpc.Server, o Options) (http.Handler, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.BodyTimeout == 0 {
		o.BodyTimeout = bodyTimeout
	}
	if o.Revision == nil {
		o.Revision = func() int64 { return 0 }
	}
	conn := s.Conn()
	mux, err := newGateway(conn)
	if err != nil {
		return nil, err
	}
	h := &handler{
		plain: map[string]http.HandlerFunc{
			"/version": answerJSON(versionInfo),
			"/readyz":  answerChecks("readyz", o.Ready),
			"/livez":   answerChecks("livez", o.Live),
			"/healthz": answerChecks("healthz", append(append([]Check{}, o.Live...), o.Ready...)),
		},
		log:     serveLog(s.OpenLog),
		patch:   servePatch(conn),
		gateway: serveGateway(mux),
		absent:  serveAbsent(o.Revision),
	}
	addDiscovery(h.plain)
	addOpenAPI(h.plain)
	addKeys(h.plain, o.TokenKeys)
	if o.Gatherer != nil {
		h.plain["/metrics"] = promhttp.HandlerFor(o.Gatherer, promhttp.HandlerOpts{}).ServeHTTP
	}
	compressed, err := compress(h)
	if err != nil {
		return nil, err
	}
	return account(boundBody(compressed, o.BodyTimeout), o.Logger, newMetrics(o.Metrics)), nil
}

// handler picks who serves a request.
type handler struct {
	plain               map[string]http.HandlerFunc
	log, patch, gateway http.HandlerFunc
	absent              http.HandlerFunc
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch plain, ok := h.plain[r.URL.Path]; {
	case ok && r.Method != http.MethodGet:
		writeError(w, r, methodNotAllowed(r.Method))
	case ok:
		plain(w, r)
	case isReview(r):
		reviews[r.URL.Path](w, r)
	case isLog(r):
		h.log(w, r)
	case isAbsent(r):
		h.absent(w, r)
	case unserved(r) != nil:
		writeError(w, r, unserved(r))
	case !isVersioned(r.URL.Path):
		writeError(w, r, notFoundPath())
	case r.Method == http.MethodPatch:
		h.patch(w, r)
	default:
		h.gateway(w, r)
	}
}
