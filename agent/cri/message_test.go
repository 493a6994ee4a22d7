// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"errors"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestMessage(t *testing.T) {
	for _, tc := range []struct{ said, want string }{
		{
			`failed to do request: Head "http://127.0.0.1:5000/v2/app/manifests/1?ns=%5BREDACTED%5D": dial tcp 127.0.0.1:5000: connect: connection refused`,
			`failed to do request: Head "http://127.0.0.1:5000/v2/app/manifests/1": dial tcp 127.0.0.1:5000: connect: connection refused`,
		},
		{
			`unexpected status from HEAD request to http://127.0.0.1:5000/v2/app/manifests/1?ns=%5BREDACTED%5D: 401 Unauthorized`,
			`unexpected status from HEAD request to http://127.0.0.1:5000/v2/app/manifests/1: 401 Unauthorized`,
		},
		{`GET http://r/a?page=2&token=%5BREDACTED%5D&n=3 and http://r/b?ns=[REDACTED]`, `GET http://r/a?page=2&n=3 and http://r/b`},
		{`GET http://r/a?token=%5BREDACTED%5D&ns=%5BREDACTED%5D failed`, `GET http://r/a failed`},
		{`GET "http://r/a?ns=docker.io": 404, why?`, `GET "http://r/a?ns=docker.io": 404, why?`},
		{
			`failed to start sandbox "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef": failed to create containerd task`,
			`failed to start sandbox: failed to create containerd task`,
		},
		{
			`container 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef is not running`,
			`container is not running`,
		},
		{
			`app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef not found`,
			`app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef not found`,
		},
		{"", ""},
	} {
		if got := Message(status.Error(codes.Unknown, tc.said)); got != tc.want {
			t.Errorf("%q\ngave %q\nwant %q", tc.said, got, tc.want)
		}
	}
	if got := Message(errors.New("plain")); got != "plain" {
		t.Errorf("%q", got)
	}
}
