// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/berth-run/berth/cli"
)

// logFlags say how the program logs to standard error.
type logFlags struct {
	level  string
	format string
}

func (f *logFlags) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.level, "log-level", "info", "debug, info, warn or error")
	c.Flags().StringVar(&f.format, "log-format", "text", "text or json")
}

func (f *logFlags) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, cli.UsageError(fmt.Errorf("--log-level %q: must be debug, info, warn or error", f.level))
	}
	options := &slog.HandlerOptions{Level: level}
	var log *slog.Logger
	switch f.format {
	case "text":
		log = slog.New(slog.NewTextHandler(os.Stderr, options))
	case "json":
		log = slog.New(slog.NewJSONHandler(os.Stderr, options))
	default:
		return nil, cli.UsageError(fmt.Errorf("--log-format %q: must be text or json", f.format))
	}
	logGRPC(log)
	return log, nil
}
