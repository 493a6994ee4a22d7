// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package bolt

const childEnv = "BERTH_STORE_KILL_TEST"

func runChild(string) int { return 0 }
