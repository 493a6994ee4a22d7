// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"net/http"
	"strings"
	"sync"

	gateway "github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	apipb "github.com/berth-run/berth/proto/berth/api/v1"
	"github.com/berth-run/berth/server/rpc/inprocess"
)

// newGateway returns the generated handlers of all services, calling them
// through conn.
func newGateway(conn grpc.ClientConnInterface) (*gateway.ServeMux, error) {
	none := func(string) (string, bool) { return "", false }
	opts := []gateway.ServeMuxOption{
		gateway.WithForwardResponseRewriter(unwrap),
		gateway.WithForwardResponseOption(beforeAnswer),
		gateway.WithErrorHandler(handleError),
		gateway.WithRoutingErrorHandler(handleRoutingError),
		gateway.WithIncomingHeaderMatcher(none),
		gateway.WithOutgoingHeaderMatcher(none),
		gateway.WithOutgoingTrailerMatcher(none),
		// A form that a web page posts must not become another method.
		gateway.WithDisableHTTPMethodOverride(),
		gateway.WithDisablePathLengthFallback(),
	}
	for _, m := range marshalers() {
		opts = append(opts, gateway.WithMarshalerOption(m.key(), m))
	}
	mux := gateway.NewServeMux(opts...)
	return mux, register(mux, conn)
}

func register(mux *gateway.ServeMux, conn grpc.ClientConnInterface) error {
	ctx := context.Background()
	for _, err := range []error{
		apipb.RegisterPodsHandlerClient(ctx, mux, apipb.NewPodsClient(conn)),
		apipb.RegisterNodesHandlerClient(ctx, mux, apipb.NewNodesClient(conn)),
		apipb.RegisterNamespacesHandlerClient(ctx, mux, apipb.NewNamespacesClient(conn)),
		apipb.RegisterSecretsHandlerClient(ctx, mux, apipb.NewSecretsClient(conn)),
		apipb.RegisterConfigMapsHandlerClient(ctx, mux, apipb.NewConfigMapsClient(conn)),
		apipb.RegisterEventsHandlerClient(ctx, mux, apipb.NewEventsClient(conn)),
		apipb.RegisterServiceAccountsHandlerClient(ctx, mux, apipb.NewServiceAccountsClient(conn)),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// serveGateway prepares a request under /api/v1 for the gateway.
func serveGateway(mux *gateway.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = watchPath(r.URL.Path, r.URL.Query())
		r.URL.RawPath = ""
		q, err := newRequest(w, r)
		if err != nil {
			writeError(w, r, err)
			return
		}
		r.Header.Set("Accept", q.form.key())
		r.Header.Set("Content-Type", q.form.key())

		// A watch's handler has ended before its request does.
		var streams sync.WaitGroup
		defer streams.Wait()
		mux.ServeHTTP(w, q.attach(r.WithContext(inprocess.WithStreams(r.Context(), &streams))))
	}
}

// beforeAnswer runs before each reply, and once with nil when a watch begins.
func beforeAnswer(ctx context.Context, w http.ResponseWriter, reply proto.Message) error {
	q := requestOf(ctx)
	switch {
	case reply == nil:
		return beginWatch(w, q)
	case q.watch:
		return nil
	}
	addWarnings(w.Header(), q.warnings)
	if r, ok := reply.(interface{ GetWarnings() []string }); ok {
		addWarnings(w.Header(), r.GetWarnings())
	}
	if method, _ := gateway.RPCMethod(ctx); strings.HasSuffix(method, "/Create") || strings.HasSuffix(method, "/Bind") {
		w.WriteHeader(http.StatusCreated)
	}
	return nil
}

// beginWatch sends the header at once: the first event may be long in coming.
func beginWatch(w http.ResponseWriter, q *request) error {
	w.Header().Set("Content-Type", q.form.StreamContentType(nil))
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w).Flush()
}

// addWarnings shows warnings as Kubernetes does; kubectl prints them.
func addWarnings(h http.Header, warnings []string) {
	for _, text := range warnings {
		if value, err := utilnet.NewWarningHeader(299, "-", text); err == nil {
			h.Add("Warning", value)
		}
	}
}

// handleError prefers what decoding found to the text that the gateway kept.
func handleError(_ context.Context, _ *gateway.ServeMux, _ gateway.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	if q := requestOf(r.Context()); q != nil && q.err != nil {
		err = q.err
	}
	writeError(w, r, err)
}

func handleRoutingError(_ context.Context, _ *gateway.ServeMux, _ gateway.Marshaler, w http.ResponseWriter, r *http.Request, code int) {
	err := notFoundPath()
	if code == http.StatusMethodNotAllowed {
		err = methodNotAllowed(r.Method)
	}
	writeError(w, r, err)
}
