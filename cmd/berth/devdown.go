// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/agent"
	"github.com/berth-run/berth/internal/statedir"
	"github.com/berth-run/berth/server"
)

func devDownCommand() *cobra.Command {
	var logs logFlags
	var dir string
	c := &cobra.Command{
		Use:   "down",
		Short: "End the pods and remove all that berth dev made",
		Long: "End the pods at once and remove all that berth dev made on this machine: pods, containerds, networks,\n" +
			"cgroups, firewall rules and its directory. berth dev must have ended. What others put into the\n" +
			"directory stays. The command can be repeated.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			log, err := logs.logger()
			if err != nil {
				return err
			}
			abs, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			return devDown(c.Context(), abs, log)
		},
	}
	c.Flags().StringVar(&dir, "dir", defaultDevDir, "directory of everything")
	logs.addFlags(c)
	return c
}

// devDown takes down the nodes of berth dev, then removes its server's store and its
// directory.
func devDown(ctx context.Context, dir string, log *slog.Logger) error {
	d, err := statedir.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		log.Info("nothing is there", "dir", dir)
		return nil
	case errors.Is(err, statedir.ErrInUse):
		return fmt.Errorf("--dir %s: berth dev runs there; stop it first", dir)
	case err != nil:
		return fmt.Errorf("--dir: %w", err)
	}
	defer d.Close()
	if _, err := d.ReadMark(madeByDev); err != nil {
		return fmt.Errorf("--dir: %w", err)
	}
	if err := errors.Join(downNodes(ctx, dir, log), removeStore(filepath.Join(dir, devServerName))); err != nil {
		return err
	}
	kept, err := d.Remove()
	if len(kept) > 0 {
		log.Warn("the directory stays: berth dev did not make all that is in it", "dir", dir, "kept", kept)
	}
	return err
}

// downNodes takes down every node below dir. What only has a node's name is left alone.
func downNodes(ctx context.Context, dir string, log *slog.Logger) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if !devNodeName.MatchString(e.Name()) {
			continue
		}
		state := filepath.Join(dir, e.Name())
		// An agent that was killed at once has left an empty directory.
		if os.Remove(state) == nil {
			continue
		}
		err := agent.Down(ctx, agent.DownConfig{StateDir: state, Logger: log.With("node", e.Name())})
		if !errors.Is(err, statedir.ErrNotMarked) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// removeStore removes a server's files, the copy of a broken-off compaction too, and
// their directory unless there is something else in it.
func removeStore(dataDir string) error {
	store := server.StorePath(dataDir)
	for _, file := range []string{store, store + ".compact", server.TokenKeyPath(dataDir)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	_ = os.Remove(dataDir)
	return nil
}
