// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

// List returns the objects of a kind in one namespace or, if it is empty, in
// all, as they stood at one revision.
func (r *Registry) List(ctx context.Context, k *api.Kind, namespace string, o ListOptions) (List, error) {
	selector, err := api.ParseSelector(k, o.LabelSelector, o.FieldSelector)
	if err != nil {
		return List{}, err
	}
	from, err := r.listFrom(k, namespace, o)
	if err != nil {
		return List{}, err
	}
	from.Limit = int(o.Limit)

	prefix := prefixOf(k, namespace)
	var list List
	for {
		page, err := r.store.List(ctx, prefix, from)
		if err != nil {
			return List{}, listError(k, o, err)
		}
		from.Revision = page.Revision
		list.Meta.ResourceVersion = formatRevision(page.Revision)
		for i, entry := range page.Entries {
			obj, err := r.decode(k, entry)
			if err != nil {
				return List{}, err
			}
			from.After = entry.Key
			if selector.Matches(obj) {
				list.Items = append(list.Items, obj)
			}
			if left := len(page.Entries) - i - 1 + page.Remaining; o.Limit > 0 && len(list.Items) == int(o.Limit) && left > 0 {
				list.Meta.Continue = continueToken(page.Revision, strings.TrimPrefix(entry.Key, prefix))
				if selector.Empty() {
					remaining := int64(left)
					list.Meta.RemainingItemCount = &remaining
				}
				return list, nil
			}
		}
		if page.Remaining == 0 || len(page.Entries) == 0 {
			return list, nil
		}
	}
}

// listFrom says where in which revision a list begins.
func (r *Registry) listFrom(k *api.Kind, namespace string, o ListOptions) (store.ListOptions, error) {
	if o.Continue != "" {
		if o.ResourceVersion != "" && o.ResourceVersion != "0" {
			return store.ListOptions{}, apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		revision, after, err := parseContinue(o.Continue)
		if err != nil {
			return store.ListOptions{}, err
		}
		return store.ListOptions{Revision: revision, After: prefixOf(k, namespace) + after}, nil
	}
	revision, err := parseRevision(o.ResourceVersion)
	if err != nil {
		return store.ListOptions{}, err
	}
	switch o.ResourceVersionMatch {
	case "", metav1.ResourceVersionMatchNotOlderThan:
		return store.ListOptions{}, r.requireReached(revision)
	case metav1.ResourceVersionMatchExact:
		if revision == 0 {
			return store.ListOptions{}, apierrors.NewBadRequest("resourceVersionMatch Exact needs a resourceVersion above 0")
		}
		return store.ListOptions{Revision: revision}, nil
	}
	return store.ListOptions{}, apierrors.NewBadRequest(fmt.Sprintf("resourceVersionMatch: Unsupported value: %q", o.ResourceVersionMatch))
}

// requireReached refuses a version that is still to come.
func (r *Registry) requireReached(revision int64) error {
	head := r.store.Head()
	if revision <= head {
		return nil
	}
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", revision, head), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

func listError(k *api.Kind, o ListOptions, err error) error {
	if !errors.Is(err, store.ErrCompacted) {
		return storeError(k, "", err)
	}
	if o.Continue != "" {
		return apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result. Start a new list without the continue parameter.")
	}
	return apierrors.NewResourceExpired(fmt.Sprintf("The resourceVersion %s is too old to be listed.", o.ResourceVersion))
}

// token is what a continue parameter carries: the revision that is listed, and
// the key, below the list's prefix, of the last item so far.
type token struct {
	Revision int64  `json:"rv"`
	After    string `json:"after"`
}

func continueToken(revision int64, after string) string {
	data, _ := json.Marshal(token{revision, after}) // a number and a text always encode
	return base64.RawURLEncoding.EncodeToString(data)
}

func parseContinue(text string) (revision int64, after string, err error) {
	var t token
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	if err == nil && (t.Revision <= 0 || t.After == "") {
		err = errors.New("it is incomplete")
	}
	if err != nil {
		return 0, "", apierrors.NewBadRequest(fmt.Sprintf("continue key is not valid: %v", err))
	}
	return t.Revision, t.After, nil
}

// parseRevision reads a resourceVersion; empty means 0.
func parseRevision(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	revision, err := strconv.ParseInt(text, 10, 64)
	if err != nil || revision < 0 {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("resourceVersion: Invalid value: %q: it is not a version that this server gave", text))
	}
	return revision, nil
}
