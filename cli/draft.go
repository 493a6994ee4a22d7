// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// draftFile is a draft in a file of the user's own, shown by the user's editor.
type draftFile struct {
	ctx    context.Context
	name   string
	in     io.Reader
	out    io.Writer
	errOut io.Writer

	path string
}

func newDraft(c *cobra.Command, o named) *draftFile {
	return &draftFile{
		ctx: c.Context(), name: "berth-edit-" + strings.ReplaceAll(o.String(), "/", "-") + "-*.yaml",
		in: c.InOrStdin(), out: c.OutOrStdout(), errOut: c.ErrOrStderr(),
	}
}

func (d *draftFile) Edit(text string) (string, error) {
	if err := d.put(text); err != nil {
		return "", err
	}
	editor := cmp.Or(os.Getenv("KUBE_EDITOR"), os.Getenv("EDITOR"), "vi")
	// The shell takes quotes and arguments in the variable as the user means them.
	c := exec.CommandContext(d.ctx, "sh", "-c", editor+` "$1"`, "sh", d.path)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.Stdin, c.Stdout, c.Stderr = d.in, d.out, d.errOut
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("editor %q: %w", editor, err)
	}
	edited, err := os.ReadFile(d.path)
	return string(edited), err
}

// put writes the text to the file, which is made for the first one.
func (d *draftFile) put(text string) error {
	if d.path != "" {
		return os.WriteFile(d.path, []byte(text), 0o600)
	}
	file, err := os.CreateTemp("", d.name)
	if err != nil {
		return err
	}
	d.path = file.Name()
	if _, err := file.WriteString(text); err != nil {
		file.Close()
		return fmt.Errorf("write %s: %w", d.path, err)
	}
	return file.Close()
}

func (d *draftFile) Keep() string { return d.path }

func (d *draftFile) Discard() { _ = os.Remove(d.path) }
