// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl132 is kubectl 1.32.3, unmodified, for the tests.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
