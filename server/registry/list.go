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
	from.Limit = pageSize(int(o.Limit), selector)
	l := lister{registry: r, kind: k, prefix: prefixOf(k, namespace), selector: selector, limit: int(o.Limit)}
	for {
		page, err := r.store.List(ctx, l.prefix, from)
		if err != nil {
			return List{}, listError(k, o, err)
		}
		done, err := l.take(page)
		switch {
		case err != nil:
			return List{}, err
		case done:
			return l.list, nil
		}
		from.Revision, from.After = page.Revision, page.Entries[len(page.Entries)-1].Key
	}
}

// pageSize is how many entries to read at once. Where a selector drops some,
// more are read than are wanted.
func pageSize(limit int, selector api.Selector) int {
	const whileSelecting = 500
	if limit > 0 && !selector.Empty() {
		return max(limit, whileSelecting)
	}
	return limit
}

// lister collects a list from the store's pages.
type lister struct {
	registry *Registry
	kind     *api.Kind
	prefix   string
	selector api.Selector
	limit    int
	list     List
}

// take adds what a page has for the list, and tells whether the list is done.
func (l *lister) take(page store.Page) (done bool, err error) {
	l.list.Meta.ResourceVersion = formatRevision(page.Revision)
	for i, entry := range page.Entries {
		obj, err := l.registry.decode(l.kind, entry)
		if err != nil {
			return false, err
		}
		if !l.selector.Matches(obj) {
			continue
		}
		l.list.Items = append(l.list.Items, obj)
		if left := len(page.Entries) - i - 1 + page.Remaining; len(l.list.Items) == l.limit && left > 0 {
			l.stopAt(entry, page.Revision, int64(left))
			return true, nil
		}
	}
	return page.Remaining == 0 || len(page.Entries) == 0, nil
}

// stopAt says how to go on after a full list. How many are left is known only
// where none is dropped.
func (l *lister) stopAt(last store.Entry, revision, left int64) {
	l.list.Meta.Continue = continueToken(revision, strings.TrimPrefix(last.Key, l.prefix))
	if l.selector.Empty() {
		l.list.Meta.RemainingItemCount = &left
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
	if err != nil || t.Revision <= 0 || t.After == "" {
		return 0, "", apierrors.NewBadRequest("continue key is not valid: it is none that this server gave; start a new list without it")
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
