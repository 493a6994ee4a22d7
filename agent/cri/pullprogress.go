// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package cri

import (
	"context"
	"fmt"
	"net"
	"strings"

	contentapi "github.com/containerd/containerd/api/services/content/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// PullProgress is how far the pull of an image is.
type PullProgress struct {
	// Done and Total are bytes of the image's layers and its configuration; Total is
	// 0 until the image's manifest is there.
	Done, Total int64
	// Downloading: some part of the image is under way.
	Downloading bool
	// MaybeUnpacking: nothing is under way, and all of some image of the repository is
	// there: it may be this one, which then only has to be unpacked.
	MaybeUnpacking bool
	// Elsewhere is what all parts of all images that are under way have together: it
	// stands still if nothing at all moves.
	Elsewhere int64
}

// PullWatch follows the pull of one image in containerd. CRI does not tell how far
// it is, but containerd's store of content does: what is under way has a size and an
// offset, and a manifest names the parts of an image. An offset moves by whole
// mebibytes, as containerd's copying does.
type PullWatch struct {
	client             contentapi.ContentClient
	source, repository string
	// parts are those of the image, by digest, once its manifest was found.
	parts map[string]int64
	// stored are the parts that are there.
	stored map[string]bool
}

// WatchPull returns a watch of the image of that repository of a registry that is
// being pulled. Another runtime than containerd answers it with Unimplemented.
func (c *Client) WatchPull(registry, repository string) *PullWatch {
	return &PullWatch{
		client: contentapi.NewContentClient(c.conn), source: sourceLabel(registry), repository: repository,
		stored: map[string]bool{},
	}
}

// sourceLabel is containerd's label of content from a registry: the port is left out.
func sourceLabel(registry string) string {
	host, _, err := net.SplitHostPort(registry)
	switch {
	case registry == "index.docker.io":
		host = "docker.io"
	case err != nil:
		host = registry
	}
	return "containerd.io/distribution.source." + host
}

// IsUnimplemented tells whether the runtime has no such call.
func IsUnimplemented(err error) bool { return status.Code(err) == codes.Unimplemented }

// Progress asks how far the pull is.
func (w *PullWatch) Progress(ctx context.Context) (PullProgress, error) {
	ctx = metadata.AppendToOutgoingContext(ctx, namespaceHeader, criNamespace)
	reply, err := w.client.ListStatuses(ctx, &contentapi.ListStatusesRequest{})
	if err != nil {
		return PullProgress{}, fmt.Errorf("listing what is being fetched: %w", err)
	}
	var p PullProgress
	underWay := map[string]int64{}
	for _, s := range reply.GetStatuses() {
		p.Elsewhere += s.GetOffset() + 1
		// A reference is the kind of the part, a dash and its digest.
		if _, digest, ok := strings.Cut(s.GetRef(), "-"); ok {
			underWay[digest] = s.GetOffset()
		}
	}
	if w.parts == nil {
		if err := w.findManifest(ctx, &p, underWay); err != nil {
			return p, err
		}
	}
	return p, w.add(ctx, &p, underWay)
}

// add counts the parts of the image.
func (w *PullWatch) add(ctx context.Context, p *PullProgress, underWay map[string]int64) error {
	for digest, size := range w.parts {
		p.Total += size
		if offset, ok := underWay[digest]; ok {
			p.Downloading = true
			p.Done += offset
			continue
		}
		if !w.stored[digest] {
			_, err := w.client.Info(ctx, &contentapi.InfoRequest{Digest: digest})
			if err != nil && status.Code(err) != codes.NotFound {
				return fmt.Errorf("content %s: %w", digest, err)
			}
			w.stored[digest] = err == nil
		}
		if w.stored[digest] {
			p.Done += size
		}
	}
	return nil
}
