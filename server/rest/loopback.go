// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LoopbackOnly guards a listener on the loopback address, which asks nobody who
// they are, against web pages in a browser on the same machine. A page whose
// domain was made to resolve to 127.0.0.1 gives itself away by its Host header,
// any other page by Origin or Sec-Fetch-Site.
func LoopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if reason := refuseOrigin(r.Host, r.Header); reason != "" {
			writeError(w, r, newStatus(http.StatusForbidden, metav1.StatusReasonForbidden, "%s", reason))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuseOrigin says why a request may not pass, or nothing.
func refuseOrigin(host string, h http.Header) string {
	if !isLoopback(host) {
		return "this address answers only to localhost: Host is " + host
	}
	switch site := h.Get("Sec-Fetch-Site"); site {
	case "", "none", "same-origin":
	default:
		return "requests from other web pages are refused: Sec-Fetch-Site is " + site
	}
	if origins, ok := h["Origin"]; ok {
		u, err := url.Parse(origins[0])
		if err != nil || !strings.EqualFold(u.Host, host) {
			return "requests from other web pages are refused: Origin is " + origins[0]
		}
	}
	return ""
}

// isLoopback tells whether a Host header, with or without a port, names this
// machine from inside.
func isLoopback(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.TrimSuffix(strings.ToLower(strings.Trim(name, "[]")), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(name)
	return err == nil && addr.Unmap().IsLoopback()
}
