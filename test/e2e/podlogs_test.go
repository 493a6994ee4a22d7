// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"

	"github.com/berth-run/berth/test/internal/harness"
)

// waitLog waits until the log of the pod's one container has the text.
func (w *world) waitLog(name, text string) string {
	w.t.Helper()
	return w.waitLogOf(name, "", text)
}

// waitLogOf waits until the log of one of the pod's containers has the text.
func (w *world) waitLogOf(name, container, text string) string {
	w.t.Helper()
	var log string
	err := harness.Poll(w.ctx(), "pod "+name+" logs "+text, func() (bool, error) {
		var err error
		log, err = w.Text(w.ctx(), harness.PodPath(w.ns, name)+"/log?container="+container)
		return err == nil && strings.Contains(log, text), nil
	})
	if err != nil {
		w.t.Fatalf("container %q: %v; it is %q", container, err, log)
	}
	return log
}

// wantLines looks for whole lines in a log.
func wantLines(t *testing.T, log string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+log, "\n"+line+"\n") {
			t.Errorf("no line %q in the log:\n%s", line, log)
		}
	}
}
