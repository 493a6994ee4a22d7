// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestEventName(t *testing.T) {
	const stamp = 1 << 60
	for _, object := range []string{"web", strings.Repeat("a", 253), strings.Repeat("a", 235) + ".-" + strings.Repeat("b", 16)} {
		name := EventName(object, stamp)
		if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 || !strings.HasSuffix(name, ".1000000000000000") {
			t.Errorf("%s: %v", name, wrong)
		}
	}
	if got := EventName("web", 255); got != "web.ff" {
		t.Errorf("got %s", got)
	}
}
