// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"fmt"
	"io"

	contentapi "github.com/containerd/containerd/api/services/content/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// blobChunk is how much of a blob goes in one message, and is in memory at once, in
// bytes.
const blobChunk = 512 << 10

// writeBlobs stores the image's config and layers, then its manifest, whose labels
// keep the others from the garbage collector.
func writeBlobs(ctx context.Context, content contentapi.ContentClient, i image) error {
	labels := map[string]string{}
	for n, b := range append([]blob{i.config}, i.layers...) {
		if err := writeBlob(ctx, content, b, nil); err != nil {
			return err
		}
		labels[fmt.Sprintf("containerd.io/gc.ref.content.%d", n)] = b.Digest.String()
	}
	return writeBlob(ctx, content, i.manifest, labels)
}

// writeBlob stores one blob. A blob that is there already is fine, and not sent.
func writeBlob(ctx context.Context, client contentapi.ContentClient, b blob, labels map[string]string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.Write(ctx)
	if err == nil {
		err = sendBlob(stream, b, labels)
	}
	if err != nil && status.Code(err) != codes.AlreadyExists {
		return fmt.Errorf("blob %s: %w", b.Digest, err)
	}
	return nil
}

// contentStream is the part of a content store's write call that sendBlob uses.
type contentStream = grpc.BidiStreamingClient[contentapi.WriteContentRequest, contentapi.WriteContentResponse]

// sendBlob sends the blob chunk by chunk; each is acknowledged before the next, and
// the last one commits. Offset 0 discards what an interrupted import left.
func sendBlob(stream contentStream, b blob, labels map[string]string) error {
	buffer := make([]byte, min(blobChunk, b.Size))
	for offset := int64(0); ; offset += blobChunk {
		chunk := buffer[:min(blobChunk, b.Size-offset)]
		if n, err := b.content.ReadAt(chunk, offset); n < len(chunk) {
			return err
		}
		last := offset+blobChunk >= b.Size
		request := &contentapi.WriteContentRequest{
			Action:   contentapi.WriteAction_WRITE,
			Ref:      "berth-" + b.Digest.String(),
			Total:    b.Size,
			Expected: b.Digest.String(),
			Offset:   offset,
			Data:     chunk,
		}
		if last {
			request.Action, request.Labels = contentapi.WriteAction_COMMIT, labels
		}
		if err := exchange(stream, request); err != nil || last {
			return err
		}
	}
}

func exchange(stream contentStream, request *contentapi.WriteContentRequest) error {
	if err := stream.Send(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err := stream.Recv() // after EOF on send the cause comes with the next message
	return err
}
