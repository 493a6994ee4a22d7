// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import "github.com/berth-run/berth/test/internal/testimage"

// Of what pods are given: an environment, names, rights, images.
var configExamples = map[string]example{
	"env.yaml": {see: []step{
		logs("env", "show", "POD=env\n", "APP_MODE=fast\n", "CPUS=", "URL=http://10.0.0.1/?mode=fast\n"),
		has("env", "{.status.phase}", "^Succeeded$"),
	}},
	"names.yaml": {see: []step{
		isRunning("names"),
		logs("names", "show", "db-0\n", "db-0.db.", "10.1.2.3\tfoo.local\tbar.local", "nameserver 192.0.2.1", "search example.com", "ndots:2"),
	}},
	"security-context.yaml": {see: []step{
		isRunning("security-context"),
		logs("security-context", "show", "uid=1000", "gid=3000", "4000", "CapEff:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"),
	}},
	"runtime-class.yaml": {
		see: []step{isRunning("runtime-class"), has("runtime-class", "{.spec.runtimeClassName} {.spec.overhead.memory}", "^example-runc 16Mi$")},
	},
	"private-registry.yaml": {
		before: []step{privateRegistry, does("create", "secret", "docker-registry", "login",
			"--docker-server=registry.example.com", "--docker-username=me", "--docker-password=secret")},
		see: []step{isRunning("private-registry")},
	},
}

// privateRegistry puts a registry that wants a login in the place of the example's.
func privateRegistry(u *user) {
	u.t.Helper()
	host := registry.WithLogin("me", "secret")
	for _, n := range u.Nodes {
		if err := testimage.Mirror(n.CertsDir(), "registry.example.com", host); err != nil {
			u.t.Fatal(err)
		}
	}
}
