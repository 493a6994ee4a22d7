// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"strings"
	"testing"
)

func TestObjectArgs(t *testing.T) {
	for args, want := range map[string]string{
		"pods":                              "[pod/]",
		"po,Nodes":                          "[pod/ node/]",
		"pod a b":                           "[pod/a pod/b]",
		"pod/a no/b":                        "[pod/a node/b]",
		"all":                               "[pod/]",
		"All,nodes":                         "[pod/ node/]",
		"leases.coordination.k8s.io x":      "[lease/x]",
		"lease.coordination.k8s.io/x":       "[lease/x]",
		"":                                  "name a resource type",
		"pod/a nodes":                       "expected TYPE/NAME",
		"pod/":                              "expected TYPE/NAME",
		"gadgets":                           `no resource type "gadgets"; it has configmaps, `,
		"pods.apps":                         `no resource type "pods.apps"`,
		"deployment":                        "berth runs pods by themselves: it has no deployments. Create a Pod for each replica",
		"svc":                               "it has no services. Reach a Pod by its status.podIP",
		"pods,cronjobs.batch":               "it has no cronjobs.",
		"Job/x":                             "it has no jobs.",
		"networkpolicies.networking.k8s.io": "it has no networkpolicies.",
	} {
		got, err := objectArgs(strings.Fields(args))
		switch {
		case err == nil && fmt.Sprint(got) != want:
			t.Errorf("%q: %v, want %s", args, got, want)
		case err != nil && !strings.Contains(err.Error(), want):
			t.Errorf("%q: %v; want %q", args, err, want)
		case err != nil && ExitCode(err) != exitUsage:
			t.Errorf("%q: exit code %d", args, ExitCode(err))
		}
	}
}
