// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	contentapi "github.com/containerd/containerd/api/services/content/v1"
	imagesapi "github.com/containerd/containerd/api/services/images/v1"
	leasesapi "github.com/containerd/containerd/api/services/leases/v1"
	containerdtypes "github.com/containerd/containerd/api/types"
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
	importLease = time.Hour

	// resolveTimeout bounds the wait for the CRI plugin to know an imported image.
	resolveTimeout = 30 * time.Second

	// releaseTimeout bounds the end of a lease, which otherwise expires by itself.
	releaseTimeout = 5 * time.Second
)

// pinned is the label that keeps an image from being collected.
var pinned = map[string]string{"io.cri-containerd.pinned": "pinned"}

// ImportImages gives containerd the pause image and the archives of ImagesDir, and
// waits until its CRI plugin knows them, so that a node runs pods without any
// registry. It is idempotent. Without the pause image it fails.
func (r *Runtime) ImportImages(ctx context.Context) error {
	conn, err := r.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	err = withArchive(r.cfg.PauseTar, func(images []image) error {
		if len(images) != 1 || images[0].name != PauseImage {
			return fmt.Errorf("it must have the image %s alone", PauseImage)
		}
		return importImage(ctx, conn, images[0], pinned)
	})
	if err != nil {
		return fmt.Errorf("containerd: %w", err)
	}
	return r.importArchives(ctx, conn)
}

// importArchives imports what lies in ImagesDir. An archive that cannot be imported
// is named in the log and left out: pods that need it say so.
func (r *Runtime) importArchives(ctx context.Context, conn *grpc.ClientConn) error {
	if r.cfg.ImagesDir == "" {
		return nil
	}
	files, err := os.ReadDir(r.cfg.ImagesDir)
	if err != nil {
		r.log.Error("no images are imported", "err", err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".tar" {
			continue
		}
		if err := r.importArchive(ctx, conn, filepath.Join(r.cfg.ImagesDir, f.Name())); err != nil {
			r.log.Error("an image archive cannot be imported", "err", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (r *Runtime) importArchive(ctx context.Context, conn *grpc.ClientConn, file string) error {
	return withArchive(file, func(images []image) error {
		for _, i := range images {
			if err := importImage(ctx, conn, i, nil); err != nil {
				return fmt.Errorf("image %s: %w", i.name, err)
			}
			r.log.Info("image available", "image", i.name, "file", file)
		}
		return nil
	})
}

// importImage stores the image unless it is there, and waits until CRI knows it.
func importImage(ctx context.Context, conn *grpc.ClientConn, i image, labels map[string]string) error {
	namespaced := metadata.AppendToOutgoingContext(ctx, "containerd-namespace", criNamespace)
	have, err := imagesapi.NewImagesClient(conn).Get(namespaced, &imagesapi.GetImageRequest{Name: i.name})
	if err != nil || have.GetImage().GetTarget().GetDigest() != i.manifest.Digest.String() {
		if err := storeImage(namespaced, conn, i, labels); err != nil {
			return err
		}
	}
	return waitForCRI(ctx, conn, i)
}

// storeImage stores the image's blobs and its name. A lease keeps the garbage
// collector away until the name does.
func storeImage(ctx context.Context, conn *grpc.ClientConn, i image, labels map[string]string) error {
	leases := leasesapi.NewLeasesClient(conn)
	reply, err := leases.Create(ctx, &leasesapi.CreateRequest{
		Labels: map[string]string{"containerd.io/gc.expire": time.Now().Add(importLease).UTC().Format(time.RFC3339)},
	})
	if err != nil {
		return fmt.Errorf("lease: %w", err)
	}
	lease := reply.GetLease().GetID()
	defer release(ctx, leases, lease)
	ctx = metadata.AppendToOutgoingContext(ctx, "containerd-lease", lease)
	if err := writeBlobs(ctx, contentapi.NewContentClient(conn), i); err != nil {
		return err
	}
	return tag(ctx, imagesapi.NewImagesClient(conn), i, labels)
}

// release ends a lease, also when ctx has ended.
func release(ctx context.Context, leases leasesapi.LeasesClient, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	_, _ = leases.Delete(ctx, &leasesapi.DeleteRequest{ID: id}) // it expires otherwise
}

// tag makes the image's name stand for it, whether or not the name exists.
func tag(ctx context.Context, images imagesapi.ImagesClient, i image, labels map[string]string) error {
	all := map[string]string{"io.cri-containerd.image": "managed"}
	maps.Copy(all, labels)
	entry := &imagesapi.Image{
		Name:   i.name,
		Labels: all,
		Target: &containerdtypes.Descriptor{
			MediaType: i.manifest.MediaType,
			Digest:    i.manifest.Digest.String(),
			Size:      i.manifest.Size,
		},
	}
	_, err := images.Create(ctx, &imagesapi.CreateImageRequest{Image: entry})
	if status.Code(err) == codes.AlreadyExists {
		_, err = images.Update(ctx, &imagesapi.UpdateImageRequest{Image: entry})
	}
	return err
}

// waitForCRI waits until the CRI plugin, which follows containerd's events, resolves
// the name to this image.
func waitForCRI(ctx context.Context, conn *grpc.ClientConn, i image) error {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	client := runtimeapi.NewImageServiceClient(conn)
	// The id of an image in CRI is the digest of its config.
	id := i.config.Digest.String()
	err := poll(ctx, func() (bool, error) {
		reply, err := client.ImageStatus(ctx, &runtimeapi.ImageStatusRequest{Image: &runtimeapi.ImageSpec{Image: i.name}})
		return reply.GetImage().GetId() == id, err
	})
	if err != nil {
		return fmt.Errorf("containerd has it, its CRI plugin does not: %w", err)
	}
	return nil
}
