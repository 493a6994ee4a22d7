// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package fake

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// imageServer has the methods of CRI's ImageService. Every image can be pulled; a
// registry that has it not is a fault rule on PullImage.
type imageServer struct {
	runtimeapi.UnimplementedImageServiceServer
	*Runtime
}

func (r *Runtime) addImage(name string) *runtimeapi.Image {
	image := &runtimeapi.Image{
		Id:       fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(name))),
		RepoTags: []string{name},
	}
	r.images[name] = image
	return image
}

// findImage looks an image up by its name or id.
func (r *Runtime) findImage(ref string) *runtimeapi.Image {
	if image, ok := r.images[ref]; ok {
		return image
	}
	for _, image := range r.images {
		if image.GetId() == ref {
			return image
		}
	}
	return nil
}

// ImageStatus describes an image, or nothing.
func (r *imageServer) ImageStatus(_ context.Context, q *runtimeapi.ImageStatusRequest) (*runtimeapi.ImageStatusResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &runtimeapi.ImageStatusResponse{Image: r.findImage(q.GetImage().GetImage())}, nil
}

// PullImage makes the image present.
func (r *imageServer) PullImage(_ context.Context, q *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &runtimeapi.PullImageResponse{ImageRef: r.addImage(q.GetImage().GetImage()).GetId()}, nil
}

// ListImages lists the images by name.
func (r *imageServer) ListImages(context.Context, *runtimeapi.ListImagesRequest) (*runtimeapi.ListImagesResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reply := &runtimeapi.ListImagesResponse{}
	for _, name := range slices.Sorted(maps.Keys(r.images)) {
		reply.Images = append(reply.Images, r.images[name])
	}
	return reply, nil
}

// RemoveImage removes an image.
func (r *imageServer) RemoveImage(_ context.Context, q *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if image := r.findImage(q.GetImage().GetImage()); image != nil {
		delete(r.images, image.GetRepoTags()[0])
	}
	return &runtimeapi.RemoveImageResponse{}, nil
}
