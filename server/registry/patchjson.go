// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"errors"
	"fmt"
	"unicode/utf8"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/berth-run/berth/api"
)

// jsonChange makes one manifest of another.
type jsonChange func(k *api.Kind, manifest []byte) ([]byte, error)

// maxPatchOperations bounds a JSON patch, as Kubernetes does.
const maxPatchOperations = 10_000

// A JSON patch can copy what it has copied, and so double what it makes with each
// operation. More than an object can hold, many times over, is no use. The library
// has no other place for its limit.
func init() { jsonpatch.AccumulatedCopySizeLimit = 2 * MaxObjectBytes }

// readPatch reads a patch of any form but apply, with warnings of what it says
// twice.
func readPatch(p Patch) (jsonChange, []string, error) {
	if !utf8.Valid(p.Data) {
		return nil, nil, apierrors.NewBadRequest("the patch is not valid UTF-8") // the libraries would replace it
	}
	switch p.Type {
	case types.JSONPatchType:
		change, err := readJSONPatch(p.Data)
		return guarded(change), nil, err
	case types.MergePatchType:
		warnings, err := checkPatchFields(p)
		return guarded(mergeChange(p.Data)), warnings, err
	case types.StrategicMergePatchType:
		warnings, err := checkPatchFields(p)
		return guarded(strategicChange(p.Data)), warnings, err
	}
	return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("patch type %q: must be %s, %s, %s or %s", p.Type,
		types.JSONPatchType, types.MergePatchType, types.StrategicMergePatchType, types.ApplyPatchType))
}

// guarded refuses the patches that the libraries panic over, such as a merge key
// that is an object, or an operation on the whole without a value.
func guarded(change jsonChange) jsonChange {
	return func(k *api.Kind, manifest []byte) (out []byte, err error) {
		defer func() {
			if recover() != nil {
				out, err = nil, apierrors.NewBadRequest("the patch cannot be applied: a value or a merge key in it is missing, or of the wrong type")
			}
		}()
		return change(k, manifest)
	}
}

// readJSONPatch reads RFC 6902 operations. What they cannot be done to is
// Invalid, not BadRequest: the patch itself is well formed.
func readJSONPatch(data []byte) (jsonChange, error) {
	patch, err := jsonpatch.DecodePatch(data)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the JSON patch cannot be read: %v", err))
	}
	if len(patch) > maxPatchOperations {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"the allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(patch)))
	}
	return func(_ *api.Kind, manifest []byte) ([]byte, error) {
		out, err := patch.Apply(manifest)
		var copied *jsonpatch.AccumulatedCopySizeError
		switch {
		case errors.As(err, &copied):
			return nil, apierrors.NewRequestEntityTooLargeError(copied.Error())
		case err != nil:
			return nil, invalidPatch(err)
		}
		return out, nil
	}, nil
}

// mergeChange is RFC 7386.
func mergeChange(data []byte) jsonChange {
	return func(_ *api.Kind, manifest []byte) ([]byte, error) {
		out, err := jsonpatch.MergePatch(manifest, data)
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the merge patch cannot be applied: %v", err))
		}
		return out, nil
	}
}

// strategicChange merges lists by the keys that their types name.
func strategicChange(data []byte) jsonChange {
	return func(k *api.Kind, manifest []byte) ([]byte, error) {
		out, err := strategicpatch.StrategicMergePatch(manifest, data, k.New())
		if err != nil {
			return nil, apierrors.NewBadRequest(fmt.Sprintf("the strategic merge patch cannot be applied: %v", err))
		}
		return out, nil
	}
}

// checkPatchFields refuses what is no JSON object, and finds fields that are said
// twice.
func checkPatchFields(p Patch) (warnings []string, err error) {
	var content map[string]any
	twice, err := kjson.UnmarshalStrict(p.Data, &content)
	if err == nil && content == nil {
		err = errors.New("it is not a JSON object")
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the patch cannot be read: %v", err))
	}
	switch {
	case len(twice) == 0 || p.FieldValidation == metav1.FieldValidationIgnore:
		return nil, nil
	case p.FieldValidation == metav1.FieldValidationStrict:
		return nil, invalidPatch(fmt.Errorf("strict decoding error: %w", errors.Join(twice...)))
	}
	for _, e := range twice {
		warnings = append(warnings, e.Error())
	}
	return warnings, nil
}

func invalidPatch(err error) error {
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
		field.Invalid(field.NewPath("patch"), field.OmitValueType{}, err.Error())})
}
