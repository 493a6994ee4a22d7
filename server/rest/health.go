// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// Check is one named condition of health. Its error is shown to the client.
type Check struct {
	Name string
	Func func(ctx context.Context) error
}

// answerChecks answers ok, or 503 and what fails. With ?verbose it names each
// check either way, in the words of Kubernetes.
func answerChecks(endpoint string, checks []Check) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		report, healthy := runChecks(r.Context(), checks)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		switch {
		case !healthy:
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintf(w, "%s%s check failed\n", report, endpoint)
		case r.URL.Query().Has("verbose"):
			fmt.Fprintf(w, "%s%s check passed\n", report, endpoint)
		default:
			fmt.Fprint(w, "ok")
		}
	}
}

func runChecks(ctx context.Context, checks []Check) (report string, healthy bool) {
	var b strings.Builder
	b.WriteString("[+]ping ok\n")
	healthy = true
	for _, c := range checks {
		if err := c.Func(ctx); err != nil {
			healthy = false
			fmt.Fprintf(&b, "[-]%s failed: %v\n", c.Name, err)
			continue
		}
		fmt.Fprintf(&b, "[+]%s ok\n", c.Name)
	}
	return b.String(), healthy
}
