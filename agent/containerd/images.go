// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"time"

	contentapi "github.com/containerd/containerd/api/services/content/v1"
	imagesapi "github.com/containerd/containerd/api/services/images/v1"
	leasesapi "github.com/containerd/containerd/api/services/leases/v1"
	containerdtypes "github.com/containerd/containerd/api/types"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

const (
	// criNamespace is the containerd namespace of the CRI plugin.
	criNamespace = "k8s.io"

	// importLease is how long an unfinished import is safe from garbage collection.
	importLease = 5 * time.Minute
)

// ImportImages gives containerd the pause image and waits until its CRI plugin knows
// it, so that a node starts sandboxes without any registry. It is idempotent.
func (r *Runtime) ImportImages(ctx context.Context) error {
	image, err := readArchive(r.cfg.PauseTar)
	if err != nil {
		return fmt.Errorf("containerd: %w", err)
	}
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := importImage(ctx, conn, PauseImage, image, pinned); err != nil {
		return fmt.Errorf("containerd: import %s: %w", PauseImage, err)
	}
	return r.importArchives(ctx, conn)
}

// importArchives imports what lies in ImagesDir. An archive that cannot be imported
// is named in the log and left out: pods that need it say so.
func (r *Runtime) importArchives(ctx context.Context, conn *grpc.ClientConn) error {
	if r.cfg.ImagesDir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(r.cfg.ImagesDir, "*.tar"))
	if err != nil {
		return fmt.Errorf("containerd: images directory: %w", err)
	}
	for _, file := range files {
		name, err := importArchive(ctx, conn, file)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r.log.Error("an image archive cannot be imported", "file", file, "err", err)
			continue
		}
		r.log.Info("image imported", "image", name, "file", file)
	}
	return nil
}

func importArchive(ctx context.Context, conn *grpc.ClientConn, file string) (name string, err error) {
	image, err := readArchive(file)
	if err != nil {
		return "", err
	}
	if name = image.name(); name == "" {
		return "", fmt.Errorf("its index names no image: annotation %s", nameAnnotations[0])
	}
	return name, importImage(ctx, conn, name, image, nil)
}

// pinned is the label that keeps an image from being collected.
var pinned = map[string]string{"io.cri-containerd.pinned": "pinned"}

func importImage(ctx context.Context, conn *grpc.ClientConn, name string, image *archive, labels map[string]string) error {
	ctx = metadata.AppendToOutgoingContext(ctx, "containerd-namespace", criNamespace)
	images := imagesapi.NewImagesClient(conn)
	have, err := images.Get(ctx, &imagesapi.GetImageRequest{Name: name})
	if err == nil && have.GetImage().GetTarget().GetDigest() == image.manifest.Digest.String() {
		return waitForCRI(ctx, conn, name, image)
	}
	leased, err := lease(ctx, conn)
	if err != nil {
		return err
	}
	if err := writeBlobs(leased, contentapi.NewContentClient(conn), image); err != nil {
		return err
	}
	if err := tag(leased, images, name, image.manifest, labels); err != nil {
		return err
	}
	return waitForCRI(ctx, conn, name, image)
}

// lease keeps the garbage collector away from what is written with the returned
// context. It expires by itself.
func lease(ctx context.Context, conn *grpc.ClientConn) (context.Context, error) {
	reply, err := leasesapi.NewLeasesClient(conn).Create(ctx, &leasesapi.CreateRequest{
		Labels: map[string]string{"containerd.io/gc.expire": time.Now().Add(importLease).UTC().Format(time.RFC3339)},
	})
	if err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	return metadata.AppendToOutgoingContext(ctx, "containerd-lease", reply.GetLease().GetID()), nil
}

// writeBlobs stores the image's config and layers, then its manifest, whose labels
// keep the others from the garbage collector.
func writeBlobs(ctx context.Context, content contentapi.ContentClient, image *archive) error {
	labels := map[string]string{}
	for i, d := range image.references {
		if err := writeBlob(ctx, content, d, image.blobs[d.Digest], nil); err != nil {
			return err
		}
		labels[fmt.Sprintf("containerd.io/gc.ref.content.%d", i)] = d.Digest.String()
	}
	return writeBlob(ctx, content, image.manifest, image.blobs[image.manifest.Digest], labels)
}

// blobChunk is how much of a blob goes in one message, in bytes.
const blobChunk = 1 << 20

// writeBlob stores one blob. A blob that is there already is fine.
func writeBlob(ctx context.Context, client contentapi.ContentClient, d ocispec.Descriptor, content []byte, labels map[string]string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.Write(ctx)
	if err != nil {
		return fmt.Errorf("blob %s: %w", d.Digest, err)
	}
	request := &contentapi.WriteContentRequest{
		Action: contentapi.WriteAction_WRITE,
		Ref:    "berth-" + d.Digest.String(),
		Total:  int64(len(content)),
	}
	for offset := 0; err == nil; offset += blobChunk {
		request.Offset = int64(offset)
		request.Data = content[offset:min(offset+blobChunk, len(content))]
		last := offset+blobChunk >= len(content)
		if last {
			request.Action, request.Expected, request.Labels = contentapi.WriteAction_COMMIT, d.Digest.String(), labels
		}
		if err = writeChunk(stream, request); last {
			break
		}
	}
	if err != nil && status.Code(err) != codes.AlreadyExists {
		return fmt.Errorf("blob %s: %w", d.Digest, err)
	}
	return nil
}

func writeChunk(stream grpc.BidiStreamingClient[contentapi.WriteContentRequest, contentapi.WriteContentResponse], request *contentapi.WriteContentRequest) error {
	if err := stream.Send(request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	_, err := stream.Recv() // after EOF on send the cause comes with the next message
	return err
}

// tag makes name stand for the manifest, whether or not it exists.
func tag(ctx context.Context, images imagesapi.ImagesClient, name string, manifest ocispec.Descriptor, labels map[string]string) error {
	all := map[string]string{"io.cri-containerd.image": "managed"}
	maps.Copy(all, labels)
	image := &imagesapi.Image{
		Name:   name,
		Labels: all,
		Target: &containerdtypes.Descriptor{
			MediaType: manifest.MediaType,
			Digest:    manifest.Digest.String(),
			Size:      manifest.Size,
		},
	}
	_, err := images.Create(ctx, &imagesapi.CreateImageRequest{Image: image})
	if status.Code(err) == codes.AlreadyExists {
		_, err = images.Update(ctx, &imagesapi.UpdateImageRequest{Image: image})
	}
	return err
}

// waitForCRI waits until the CRI plugin, which follows containerd's events, resolves
// the name to this image.
func waitForCRI(ctx context.Context, conn *grpc.ClientConn, name string, image *archive) error {
	client := runtimeapi.NewImageServiceClient(conn)
	// The id of an image in CRI is the digest of its config.
	id := image.references[0].Digest.String()
	return poll(ctx, func() (bool, error) {
		reply, err := client.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: name}})
		return reply.GetImage().GetId() == id, err
	})
}
