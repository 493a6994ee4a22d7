// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
)

// While the runtime cannot be asked, its pods may run: nothing is removed that the next
// attempt needs, and the error says how to do without that runtime.
func TestDownWaitsForTheRuntime(t *testing.T) {
	endpoint := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	cfg := Config{StateDir: t.TempDir(), RuntimeEndpoint: endpoint}
	d, err := cfg.claimStateDir()
	if err != nil {
		t.Fatal(err)
	}
	d.Close()
	for range 2 {
		err = Down(t.Context(), DownConfig{StateDir: cfg.StateDir, Logger: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), "runtime "+endpoint) || !strings.Contains(err.Error(), "--runtime-endpoint") {
			t.Errorf("Down = %v", err)
		}
		if existing(cfg.podsDir()) == "" {
			t.Error("the pods' directories are gone")
		}
	}
}
