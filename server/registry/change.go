// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"

	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"github.com/berth-run/berth/api"
	"github.com/berth-run/berth/store"
)

// decision is what shall become of a stored object. The zero value leaves it.
type decision struct {
	// write replaces the object. Of an object that is removed it is the last state.
	write api.Object
	// remove takes its record away, if nothing holds it.
	remove bool
	// tell has the last state written before the record goes, so that those who
	// watch see it.
	tell bool
}

// result returns the object as the decision makes it.
func (d decision) result(current api.Object) api.Object {
	if d.write != nil {
		return d.write
	}
	return current
}

// change reads an object, lets decide say what shall become of it, and does
// that if the object is still the one that was decided on; else it begins anew.
// A removal that it told before it was overtaken is done once that object is gone.
// decide gets a shared object. Without a write the current object is returned.
func (r *Registry) change(ctx context.Context, k *api.Kind, namespace, name string,
	decide func(current api.Object) (decision, error)) (api.Object, error) {
	var told api.Object
	for {
		entry, err := r.store.Get(ctx, keyOf(k, namespace, name))
		if told != nil && errors.Is(err, store.ErrNotFound) {
			return told, nil
		}
		if err != nil {
			return nil, storeError(k, name, err)
		}
		current, err := r.decode(k, entry)
		if err != nil {
			return nil, err
		}
		if told != nil && told.GetUID() != current.GetUID() {
			return told, nil
		}
		d, err := decide(current)
		if err != nil {
			return nil, err
		}
		obj, err := r.carryOut(ctx, k, d, current, entry)
		if !overtaken(err) {
			return obj, err
		}
		if obj != nil {
			told = obj
		}
	}
}

// overtaken tells whether somebody else changed or removed an entry before a write.
func overtaken(err error) bool {
	return errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound)
}

// carryOut does what was decided on an entry, as far as finalizers let it. When
// it is overtaken it returns the last state that it told, if any: what is told to
// end may be ended by others, and its name taken again, before it is removed here.
func (r *Registry) carryOut(ctx context.Context, k *api.Kind, d decision, current api.Object, entry store.Entry) (told api.Object, err error) {
	d = d.settled(current, r.now())
	last := current
	if d.write != nil && !apiequality.Semantic.DeepEqual(d.write, current) {
		last = d.write
		if !d.remove || d.tell {
			if entry, err = r.replace(ctx, k, d.write, entry); err != nil {
				return nil, err
			}
			told = last
		}
	}
	if !d.remove {
		return last, nil
	}
	obj, err := r.remove(ctx, k, last, entry)
	if err != nil {
		return told, err
	}
	return obj, nil
}

// replace writes next in place of an entry.
func (r *Registry) replace(ctx context.Context, k *api.Kind, next api.Object, entry store.Entry) (store.Entry, error) {
	value, err := encode(k, next)
	if err != nil {
		return store.Entry{}, err
	}
	revision, err := r.store.Update(ctx, entry.Key, value, entry.Revision)
	if err != nil {
		return store.Entry{}, writeError(k, next.GetName(), err)
	}
	entry = store.Entry{Key: entry.Key, Value: value, Revision: revision}
	r.share(entry, next)
	return entry, nil
}

// remove takes an object's record away and returns its last state, whose
// resourceVersion is that of the removal.
func (r *Registry) remove(ctx context.Context, k *api.Kind, last api.Object, entry store.Entry) (api.Object, error) {
	_, revision, err := r.store.Delete(ctx, entry.Key, entry.Revision)
	if err != nil {
		return nil, writeError(k, last.GetName(), err)
	}
	return atRevision(last, revision), nil
}

// atRevision returns a copy of a shared object with another resourceVersion.
func atRevision(obj api.Object, revision int64) api.Object {
	next := api.ShallowCopy(obj)
	next.SetResourceVersion(formatRevision(revision))
	return next
}

func writeError(k *api.Kind, name string, err error) error {
	if overtaken(err) {
		return err
	}
	return storeError(k, name, err)
}
