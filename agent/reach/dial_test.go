// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package reach

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
)

func TestNoClosedConnectionIsKept(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for range 20 {
		conn, err := NewDialer().DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	content, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Skip("no list of connections:", err)
	}
	remote := fmt.Sprintf(":%04X", l.Addr().(*net.TCPAddr).Port)
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); strings.HasSuffix(fields[2], remote) {
			t.Errorf("a connection is still there: %s", line)
		}
	}
}
