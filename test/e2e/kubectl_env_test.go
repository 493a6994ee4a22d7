// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/test/internal/harness"
)

// scriptEnv is what scripts of one kubectl share.
type scriptEnv struct {
	client  *harness.Client
	kubectl string
	node    string
	cache   string
}

// setUp gives a script a namespace $NS, a kubeconfig that names it, a node $NODE for
// what it does to nodes, and the program as kubectl. Both names stand for themselves
// in its YAML files.
func (e *scriptEnv) setUp(ctx context.Context, env *testscript.Env) error {
	if _, err := os.Stat(e.kubectl); err != nil {
		return fmt.Errorf("%w: run make tools-%s", err, filepath.Base(e.kubectl))
	}
	script := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: script + "-"}}
	if _, err := e.client.Do(ctx, http.MethodPost, "/api/v1/namespaces", ns, ns); err != nil {
		return err
	}
	bin := filepath.Join(env.WorkDir, ".bin")
	config := filepath.Join(env.WorkDir, ".kubeconfig")
	env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("KUBECONFIG", config)
	env.Setenv("KUBECACHEDIR", e.cache)
	env.Setenv("SERVER", e.client.URL())
	env.Setenv("NODE", e.node)
	env.Setenv("NS", ns.Name)
	return errors.Join(
		os.Mkdir(bin, 0o755),
		os.Symlink(e.kubectl, filepath.Join(bin, "kubectl")),
		os.WriteFile(config, fmt.Appendf(nil, kubeconfig, e.client.URL(), ns.Name), 0o600),
		expandFiles(filepath.Join(env.WorkDir, "*.yaml"), strings.NewReplacer("$NODE", e.node, "$NS", ns.Name)))
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: berth
clusters:
- name: berth
  cluster: {server: %q}
contexts:
- name: berth
  context: {cluster: berth, namespace: %q}
`

func expandFiles(glob string, names *strings.Replacer) error {
	paths, err := filepath.Glob(glob)
	for _, path := range paths {
		content, readErr := os.ReadFile(path)
		err = errors.Join(err, readErr, os.WriteFile(path, []byte(names.Replace(string(content))), 0o644))
	}
	return err
}
