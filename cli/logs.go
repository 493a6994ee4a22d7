// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	apipb "github.com/berth-run/berth/proto/berth/api/v1"
)

type logsFlags struct {
	target
	request apipb.PodLogRequest
	tail    int64
	since   time.Duration
}

func logsCommand() *cobra.Command {
	var f logsFlags
	c := &cobra.Command{
		Use:     "logs POD [-c CONTAINER]",
		Short:   "Print what a container of a pod has written",
		Args:    cobra.ExactArgs(1),
		Example: "  berth logs web -f\n  berth logs web -c sidecar --tail 20",
		RunE:    func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.addFlags(c)
	flags := c.Flags()
	flags.StringVarP(&f.request.Container, "container", "c", "", "container; needed where the pod has several")
	flags.BoolVarP(&f.request.Follow, "follow", "f", false, "go on as more is written")
	flags.BoolVarP(&f.request.Previous, "previous", "p", false, "of the instance before the last restart")
	flags.BoolVar(&f.request.Timestamps, "timestamps", false, "begin each line with its time")
	flags.Int64Var(&f.tail, "tail", -1, "only that many lines from the end; -1 means all")
	flags.DurationVar(&f.since, "since", 0, "only what was written within this time, such as 5m")
	return c
}

func (f *logsFlags) run(c *cobra.Command, pod string) error {
	f.request.Namespace, f.request.Name = f.namespace, strings.TrimPrefix(pod, "pod/")
	if f.tail >= 0 {
		f.request.TailLines = &f.tail
	}
	if f.since > 0 {
		seconds := int64(f.since.Seconds())
		f.request.SinceSeconds = &seconds
	}
	client, closeClient, err := f.connect()
	if err != nil {
		return err
	}
	defer closeClient()
	stream, err := apipb.NewPodsClient(client.conn).Log(c.Context(), &f.request)
	if err != nil {
		return err
	}
	for {
		chunk, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF), errors.Is(c.Context().Err(), context.Canceled):
			return nil
		case err != nil:
			return err
		}
		if _, err := c.OutOrStdout().Write(chunk.GetData()); err != nil {
			return err
		}
	}
}
