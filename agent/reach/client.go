// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/url"
)

// maxRedirects is how many are followed, as net/http has it.
const maxRedirects = 10

// NewClient returns a client for requests to containers. It checks no certificate,
// which a pod's address could not have, passes by the node's proxies, and keeps no
// connection to a container that may be gone.
func NewClient() *http.Client { return newClient(nil) }

// NewHTTP2Client returns one that speaks HTTP/2 without encryption, and takes it for
// granted that the container does.
func NewHTTP2Client() *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	return newClient(&protocols)
}

func newClient(protocols *http.Protocols) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true},
			Proxy:              func(*http.Request) (*url.URL, error) { return nil, nil },
			DialContext:        NewDialer().DialContext,
			Protocols:          protocols,
			DisableKeepAlives:  true,
			DisableCompression: true,
		},
		CheckRedirect: withinHost,
	}
}

// withinHost follows a redirect on the same host; one to elsewhere is the answer: a
// container must not send the node's agent to others.
func withinHost(r *http.Request, via []*http.Request) error {
	switch {
	case r.URL.Hostname() != via[0].URL.Hostname():
		return http.ErrUseLastResponse
	case len(via) >= maxRedirects:
		return errors.New("stopped after 10 redirects")
	}
	return nil
}
