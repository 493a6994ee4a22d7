// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package podruntime

import "testing"

func TestWhatASandboxMissesOfItsNetwork(t *testing.T) {
	const ip, second = "10.0.0.2", "10.0.0.3"
	for name, test := range map[string]struct {
		ips  []string
		own  bool
		seen []map[string]hostEnd
		want string
	}{
		"all is there":                 {[]string{ip}, true, []map[string]hostEnd{{ip: onBridge}}, ""},
		"no address":                   {[]string{ip}, true, []map[string]hostEnd{{}}, "the address 10.0.0.2"},
		"one address of two":           {[]string{ip, second}, false, []map[string]hostEnd{{ip: onBridge}}, "the address 10.0.0.3"},
		"no bridge":                    {[]string{ip}, true, []map[string]hostEnd{{ip: onNoBridge}}, "the bridge of 10.0.0.2"},
		"another's network":            {[]string{ip}, false, []map[string]hostEnd{{ip: onNoBridge}, {ip: onNoBridge}}, ""},
		"another's network, lost":      {[]string{ip}, false, []map[string]hostEnd{{ip: onBridge}, {ip: onNoBridge}}, "the bridge of 10.0.0.2"},
		"a network of another kind":    {[]string{ip}, true, []map[string]hostEnd{{ip: elsewhere}}, ""},
		"others' addresses besides":    {[]string{ip}, true, []map[string]hostEnd{{ip: onBridge, second: onNoBridge}}, ""},
		"the runtime tells no address": {nil, true, []map[string]hostEnd{{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAddresses()
			a.known["s"] = sandboxAddress{path: "/ns", ips: test.ips}
			got := ""
			for _, found := range test.seen {
				got = a.note("s", found, test.own)
			}
			if got != test.want || a.isLost("s") != (test.want != "") {
				t.Errorf("misses %q, lost %t; want %q", got, a.isLost("s"), test.want)
			}
		})
	}
}
