// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	contentapi "github.com/containerd/containerd/api/services/content/v1"
)

// findManifest looks for a manifest of the repository with a part that is under way.
// containerd labels content with where it is from and what it refers to.
func (w *PullWatch) findManifest(ctx context.Context, p *PullProgress, underWay map[string]int64) error {
	list, err := w.client.List(ctx, &contentapi.ListContentRequest{Filters: []string{fmt.Sprintf("labels.%q", w.source)}})
	if err != nil {
		return fmt.Errorf("listing content: %w", err)
	}
	for {
		reply, err := list.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing content: %w", err)
		}
		for _, info := range reply.GetInfo() {
			switch layers := layersOf(info); {
			case len(layers) == 0 || !w.isOurs(info):
			case anyOf(layers, underWay):
				w.parts, err = w.readManifest(ctx, info)
				return err
			case len(underWay) == 0:
				p.MaybeUnpacking = true
			}
		}
	}
}

func (w *PullWatch) isOurs(info *contentapi.Info) bool {
	return slices.Contains(strings.Split(info.GetLabels()[w.source], ","), w.repository)
}

// layersOf are the layers that a manifest refers to. Other content has none: an index
// refers to manifests.
func layersOf(info *contentapi.Info) (digests []string) {
	for label, digest := range info.GetLabels() {
		if strings.HasPrefix(label, "containerd.io/gc.ref.content.l.") {
			digests = append(digests, digest)
		}
	}
	return digests
}

func anyOf(digests []string, underWay map[string]int64) bool {
	return slices.ContainsFunc(digests, func(digest string) bool { _, ok := underWay[digest]; return ok })
}

// maxManifest is far above what registries take.
const maxManifest = 8 << 20

// readManifest returns the sizes of the image's parts by digest.
func (w *PullWatch) readManifest(ctx context.Context, info *contentapi.Info) (map[string]int64, error) {
	if info.GetSize() > maxManifest {
		return nil, fmt.Errorf("manifest %s has %d bytes", info.GetDigest(), info.GetSize())
	}
	stream, err := w.client.Read(ctx, &contentapi.ReadContentRequest{Digest: info.GetDigest()})
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w", info.GetDigest(), err)
	}
	var data []byte
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("manifest %s: %w", info.GetDigest(), err)
		}
		data = append(data, chunk.GetData()...)
	}
	return partsOf(data)
}

func partsOf(manifest []byte) (map[string]int64, error) {
	type part struct {
		Digest string `json:"digest"`
		Size   int64  `json:"size"`
	}
	var m struct {
		Config part   `json:"config"`
		Layers []part `json:"layers"`
	}
	if err := json.Unmarshal(manifest, &m); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	parts := map[string]int64{}
	for _, p := range append(m.Layers, m.Config) {
		parts[p.Digest] = p.Size
	}
	return parts, nil
}
