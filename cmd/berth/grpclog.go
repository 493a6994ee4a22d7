// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"google.golang.org/grpc/grpclog"
)

// grpcErrors takes what gRPC and its gateway call errors into the program's own log,
// and drops the rest. They are mostly about clients that went away, so they count as
// details.
type grpcErrors struct {
	grpclog.LoggerV2
	log *slog.Logger
}

// logGRPC makes it the logger of the process, as gRPC has only one.
func logGRPC(log *slog.Logger) {
	silent := grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard)
	grpclog.SetLoggerV2(grpcErrors{silent, log})
}

func (g grpcErrors) Error(args ...any)                 { g.say(fmt.Sprint(args...)) }
func (g grpcErrors) Errorln(args ...any)               { g.say(fmt.Sprintln(args...)) }
func (g grpcErrors) Errorf(format string, args ...any) { g.say(fmt.Sprintf(format, args...)) }

func (g grpcErrors) say(text string) { g.log.Debug("grpc", "err", strings.TrimSpace(text)) }
