// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package reach says where a container's own ports are for the node, and how it is
// asked over HTTP. Probes and lifecycle hooks name both in the same words.
package reach

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Port returns the number of a port that is given as such or by its name among the
// container's ports.
func Port(port intstr.IntOrString, c *corev1.Container) (int, error) {
	if port.Type == intstr.Int {
		return validPort(port.IntValue())
	}
	for i := range c.Ports {
		if c.Ports[i].Name == port.StrVal {
			return validPort(int(c.Ports[i].ContainerPort))
		}
	}
	if n, err := strconv.Atoi(port.StrVal); err == nil {
		return validPort(n)
	}
	return 0, fmt.Errorf("container %s has no port named %q", c.Name, port.StrVal)
}

func validPort(n int) (int, error) {
	if n < 1 || n > 65535 {
		return 0, fmt.Errorf("port %d is not between 1 and 65535", n)
	}
	return n, nil
}

// NewRequest returns the request that an HTTP action means: to the pod's address,
// unless it names a host, with the headers it asks for. userAgent is sent if it names
// none.
func NewRequest(ctx context.Context, get *corev1.HTTPGetAction, c *corev1.Container, podIP, userAgent string) (*http.Request, error) {
	port, err := Port(get.Port, c)
	if err != nil {
		return nil, err
	}
	host := cmp.Or(get.Host, podIP)
	if host == "" {
		return nil, fmt.Errorf("the pod of container %s has no address", c.Name)
	}
	target := address(get, net.JoinHostPort(host, strconv.Itoa(port)))
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("HTTP request to container %s: %w", c.Name, err)
	}
	setHeaders(r, get.HTTPHeaders, userAgent)
	return r, nil
}

// address keeps a path that is no URL as it is written.
func address(get *corev1.HTTPGetAction, host string) *url.URL {
	u, err := url.Parse(get.Path)
	if err != nil {
		u = &url.URL{Path: get.Path}
	}
	u.Scheme, u.Host = strings.ToLower(cmp.Or(string(get.Scheme), string(corev1.URISchemeHTTP))), host
	return u
}

// setHeaders adds what every client sends, unless the headers say otherwise: an empty
// one leaves it out.
func setHeaders(r *http.Request, headers []corev1.HTTPHeader, userAgent string) {
	for _, h := range headers {
		r.Header.Add(h.Name, h.Value)
	}
	if _, set := r.Header["User-Agent"]; !set {
		r.Header.Set("User-Agent", userAgent)
	}
	if accept, set := r.Header["Accept"]; !set {
		r.Header.Set("Accept", "*/*")
	} else if accept[0] == "" {
		r.Header.Del("Accept")
	}
	// Where net/http looks for it.
	r.Host = cmp.Or(r.Header.Get("Host"), r.Host)
}
