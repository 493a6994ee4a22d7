// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package tunnel

import "testing"

func TestTable(t *testing.T) {
	table := tunnels{}
	a, twin, again := &tunnel{id: "a"}, &tunnel{id: "b"}, &tunnel{id: "a"}
	if table.newest("n") != nil || table.of("n", "a") != nil {
		t.Error("an empty table has a tunnel")
	}
	if table.add("n", a) != nil || table.add("n", twin) != nil {
		t.Error("the first of an agent is in the place of another")
	}
	if table.of("n", "a") != a || table.of("n", "b") != twin || table.newest("n") != twin || table.of("m", "a") != nil {
		t.Error("not what was put in")
	}
	if table.add("n", again) != a || table.of("n", "a") != again || table.newest("n") != again {
		t.Error("the newer one is not in the place of the older")
	}
	table.remove("n", a) // late
	table.remove("n", again)
	if table.of("n", "a") != nil || table.newest("n") != twin {
		t.Error("not what is left")
	}
	table.remove("n", twin)
	if len(table) != 0 {
		t.Errorf("the table keeps %v", table)
	}
}
