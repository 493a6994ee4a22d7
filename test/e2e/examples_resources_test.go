// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import "context"

// Of what pods take of a node.
var resourceExamples = map[string]example{
	"qos.yaml": {see: []step{
		has("qos-guaranteed", "{.status.qosClass}", "^Guaranteed$"), isRunning("qos-guaranteed"),
		has("qos-burstable", "{.status.qosClass}", "^Burstable$"), isRunning("qos-burstable"),
		has("qos-best-effort", "{.status.qosClass}", "^BestEffort$"), isRunning("qos-best-effort"),
		has("qos-whole-pod", "{.status.qosClass}", "^Burstable$"), isRunning("qos-whole-pod"),
	}},
	"resize.yaml": {see: []step{
		isRunning("resize"),
		resizes(`{"requests":{"cpu":"200m"},"limits":{"cpu":"400m"}}`), hasResources("400m 64Mi 0"),
		resizes(`{"requests":{"memory":"64Mi"},"limits":{"memory":"128Mi"}}`), hasResources("400m 128Mi 1"),
	}},
	"extended-resource.yaml": {before: []step{addDongles}, see: []step{isRunning("extended-resource"), has("extended-resource", "{.spec.nodeName}", "^node1$")}},
}

func resizes(resources string) step {
	return does("patch", "pod", "resize", "--subresource", "resize", "-p", `{"spec":{"containers":[{"name":"app","resources":`+resources+`}]}}`)
}

func hasResources(want string) step {
	return has("resize", "{.status.containerStatuses[0].resources.limits.cpu} {.status.containerStatuses[0].resources.limits.memory} "+
		"{.status.containerStatuses[0].restartCount}", "^"+want+"$")
}

// addDongles does what the example tells, and takes them away in the end.
func addDongles(u *user) {
	u.t.Helper()
	u.kubectl("patch", "node", "node1", "--subresource", "status", "--type", "json", "-p",
		`[{"op": "add", "path": "/status/capacity/example.com~1dongle", "value": "4"}]`)
	u.t.Cleanup(func() {
		body := []byte(`{"status":{"capacity":{"example.com/dongle":null}}}`)
		if _, err := u.Do(context.Background(), "PATCH", "/api/v1/nodes/node1/status", body, nil); err != nil {
			u.t.Error(err)
		}
	})
}
