// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package testimage

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// busybox is where Debian's busybox-static has its program.
const busybox = "/bin/busybox"

// users are those of the busybox image; app is its only one besides root and nobody.
const users = "root:x:0:0:root:/:/bin/sh\napp:x:1000:1000:app:/tmp:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n"

// groups give app one more than its own.
const groups = "root:x:0:\napp:x:1000:\nextra:x:2000:app\nnogroup:x:65534:\n"

// Busybox makes an image of the machine's static busybox, with all its applets in
// /bin and sh as its command. user is who runs it; empty is root.
func Busybox(user string) (v1.Image, error) {
	program, err := os.ReadFile(busybox)
	if err != nil {
		return nil, fmt.Errorf("%w (run hack/test-requirements.sh)", err)
	}
	applets, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list the applets of %s: %w", busybox, err)
	}
	files := []file{
		{name: "bin/busybox", mode: 0o755, content: program},
		{name: "etc/passwd", mode: 0o644, content: []byte(users)},
		{name: "etc/group", mode: 0o644, content: []byte(groups)},
	}
	for _, applet := range strings.Fields(string(applets)) {
		if applet != "busybox" {
			files = append(files, file{name: "bin/" + applet, target: "busybox"})
		}
	}
	return assemble(files, v1.Config{Cmd: []string{"sh"}, User: user, Env: []string{"PATH=/bin"}})
}
