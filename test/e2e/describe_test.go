// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"regexp"
	"slices"
	"testing"

	"github.com/berth-run/berth/test/internal/harness"
)

// What describe tells of a running pod and of its node is what there is.
func TestDescribeTellsOfAPodAndItsNode(t *testing.T) {
	w := shared(t)
	w.create(pod("web", app("c", "sleep")))
	p := w.ready("web")
	for _, tc := range []struct {
		args  []string
		lines []string
	}{
		{[]string{"describe", "pod", "web"}, []string{
			`Node: +` + p.Spec.NodeName + `/` + p.Status.HostIP,
			`IP: +` + p.Status.PodIP,
			`    Container ID: +containerd://[0-9a-f]{64}`,
			`    State: +Running`,
			`      Started: .* ago\)`,
			`  Ready +True .*`,
			`  Normal +Started .* berth-agent +spec\.containers\{c\}: Started container c`,
		}},
		{[]string{"describe", "node/" + p.Spec.NodeName}, []string{
			`  InternalIP: +` + p.Status.HostIP,
			`  Container Runtime Version: +containerd://.*`,
			`  ` + w.ns + ` +web +0 \(0%\) .*`,
		}},
	} {
		var got outcome
		var missing []string
		// What events tell may come a moment after the status.
		err := harness.Poll(w.ctx(), "it is described", func() (bool, error) {
			got = w.berth(w.ctx(), "", tc.args...)
			missing = slices.DeleteFunc(slices.Clone(tc.lines), func(line string) bool {
				return regexp.MustCompile(`(?m)^` + line + `$`).MatchString(got.out)
			})
			return len(missing) == 0, nil
		})
		if err != nil {
			t.Errorf("%v: no lines %q in\n%s%s", tc.args, missing, got.out, got.err)
		}
	}
}
