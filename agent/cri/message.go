// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/status"
)

// Message is what the runtime says of an error, for users to read: without gRPC's
// preamble, without the parameters of URLs whose values it has blotted out, and
// without the ids of containers, which are others at each try: so what fails again
// says the same, and counts as repeated.
func Message(err error) string {
	if s, ok := status.FromError(err); ok {
		return containerID.ReplaceAllString(withoutRedacted(s.Message()), "")
	}
	return err.Error()
}

// containerID is an id as containerd words it, after a name for what it is of. A
// digest has its algorithm before it.
var containerID = regexp.MustCompile(`\s+"?\b[0-9a-f]{64}\b"?`)

var query = regexp.MustCompile(`\?[^\s"'<>]+=(%5BREDACTED%5D|\[REDACTED\])[^\s"'<>:]*`)

// withoutRedacted takes such parameters out of the URLs in a text. containerd names
// the registry in one when it asks a mirror, so they are in each error of a pull.
func withoutRedacted(text string) string {
	return query.ReplaceAllStringFunc(text, func(q string) string {
		kept := slices.DeleteFunc(strings.Split(q[1:], "&"), func(parameter string) bool {
			return strings.HasSuffix(parameter, "=%5BREDACTED%5D") || strings.HasSuffix(parameter, "=[REDACTED]")
		})
		if len(kept) == 0 {
			return ""
		}
		return "?" + strings.Join(kept, "&")
	})
}
