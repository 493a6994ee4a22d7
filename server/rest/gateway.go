// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	gateway "github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
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
		apipb.RegisterLeasesHandlerClient(ctx, mux, apipb.NewLeasesClient(conn)),
		apipb.RegisterPriorityClassesHandlerClient(ctx, mux, apipb.NewPriorityClassesClient(conn)),
		apipb.RegisterRuntimeClassesHandlerClient(ctx, mux, apipb.NewRuntimeClassesClient(conn)),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// serveGateway prepares a request about objects for the gateway.
func serveGateway(mux *gateway.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		r.URL.Path = watchPath(r.URL.Path, query)
		r.URL.RawPath = ""
		nameManager(r, query)
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

// nameManager says who writes, where the request does not: the program that sends
// it.
func nameManager(r *http.Request, query url.Values) {
	if (r.Method != http.MethodPost && r.Method != http.MethodPut) || query.Get(managerParameter) != "" {
		return
	}
	query.Set(managerParameter, userAgentManager(r))
	r.URL.RawQuery = query.Encode()
}

const managerParameter = "fieldManager"

// userAgentManager is the User-Agent up to its version, such as kubectl or curl.
func userAgentManager(r *http.Request) string {
	name, _, _ := strings.Cut(r.UserAgent(), "/")
	name = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return -1
	}, strings.ToValidUTF8(name, ""))
	return name[:min(len(name), validation.FieldManagerMaxLength)]
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
	addAllWarnings(w.Header(), q, reply)
	if method, _ := gateway.RPCMethod(ctx); slices.Contains(creating, method[strings.LastIndex(method, "/")+1:]) {
		w.WriteHeader(http.StatusCreated)
	}
	return nil
}

// creating are the methods that answer with 201.
var creating = []string{"Create", "Bind", "CreateToken"}

// beginWatch sends the header at once: the first event may be long in coming.
func beginWatch(w http.ResponseWriter, q *request) error {
	w.Header().Set("Content-Type", q.form.StreamContentType(nil))
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w).Flush()
}

// addAllWarnings shows what decoding found and what the service said.
func addAllWarnings(h http.Header, q *request, reply proto.Message) {
	addWarnings(h, q.warnings)
	if r, ok := reply.(interface{ GetWarnings() []string }); ok {
		addWarnings(h, r.GetWarnings())
	}
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
