// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berth-run/berth/api"
)

// absentKind returns the kind that berth does not have and that a path is about, or
// nil.
func absentKind(path string) *api.AbsentKind {
	path, _ = unwatchedPath(path)
	if t, ok := parsePath(path); ok {
		for _, k := range api.AbsentKinds {
			if t.kind == &k.Kind {
				return k
			}
		}
	}
	return nil
}

func isAbsent(r *http.Request) bool { return absentKind(r.URL.Path) != nil }

// serveAbsent answers for the kinds that berth does not have: there are no objects
// of them, and there will be none.
func serveAbsent(revision func() int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = watchPath(r.URL.Path, r.URL.Query())
		path, watch := unwatchedPath(r.URL.Path)
		t, _ := parsePath(path)
		k := absentKind(path)
		var err error
		switch {
		case r.Method == http.MethodGet && watch:
			err = watchAbsent(w, r, k, revision)
		case (r.Method == http.MethodGet || r.Method == http.MethodDelete) && t.name != "":
			err = apierrors.NewNotFound(k.GroupResource(), t.name)
		case r.Method == http.MethodGet:
			err = listAbsent(w, r, k, revision())
		default:
			err = refusal(k.GroupResource(), r.Method, k.Instead())
		}
		if err != nil {
			writeError(w, r, err)
		}
	}
}

// listAbsent answers with an empty list, whatever is selected.
func listAbsent(w http.ResponseWriter, r *http.Request, k *api.AbsentKind, revision int64) error {
	q, err := newRequest(w, r)
	if err != nil {
		return err
	}
	list, err := emptyList(k, revision)
	if err != nil {
		return err
	}
	answer, err := q.reshape(list)
	if err != nil {
		return err
	}
	return q.write(w, answer, http.StatusOK)
}

// emptyList returns the list of a kind that has no Go type here: the encoding of
// an empty list is the same for every kind.
func emptyList(k *api.AbsentKind, revision int64) (*answerObject, error) {
	list := metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: formatRevision(revision)}}
	encoded, err := list.Marshal()
	gvk := k.GroupVersionKind()
	gvk.Kind += "List"
	return &answerObject{
		kind: &k.Kind, gvk: gvk, encoded: encoded,
		empty: func() runtime.Object { return &metav1.List{} },
	}, err
}

func formatRevision(revision int64) string { return strconv.FormatInt(revision, 10) }
