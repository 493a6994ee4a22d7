// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command protogen writes the .proto files that follow from the table of kinds:
// the messages, by reflection over the Kubernetes Go types and their protobuf
// tags; the service of each kind; and the REST routes of grpc-gateway. The
// messages are wire-compatible with Kubernetes in binary: the same numbers and
// names, and complete, because JSON clients drop what is not described.
//
// Usage: protogen DIR, where DIR is the proto module's root.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/berth-run/berth/api"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: protogen DIR")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	messages, err := coreMessages(api.Kinds)
	if err != nil {
		return err
	}
	for _, f := range []struct{ path, text string }{
		{"berth/core/v1/core.proto", messages},
		{"berth/api/v1/services.proto", services(api.Kinds)},
		{"gateway.yaml", routes(api.Kinds)},
	} {
		if err := os.WriteFile(filepath.Join(dir, f.path), []byte(f.text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
