// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateLifecycle looks at what is done when a container starts and stops.
func validateLifecycle(l *corev1.Lifecycle, spec *corev1.PodSpec, path *field.Path) (errs field.ErrorList) {
	if l == nil {
		return nil
	}
	if l.PostStart != nil {
		errs = append(errs, validateHook(l.PostStart, spec.TerminationGracePeriodSeconds, path.Child("postStart"))...)
	}
	if l.PreStop != nil {
		errs = append(errs, validateHook(l.PreStop, spec.TerminationGracePeriodSeconds, path.Child("preStop"))...)
	}
	if l.StopSignal != nil {
		errs = append(errs, validateStopSignal(*l.StopSignal, spec.OS, path.Child("stopSignal"))...)
	}
	return errs
}

func validateHook(h *corev1.LifecycleHandler, grace *int64, path *field.Path) field.ErrorList {
	set := commonHandlers(h.Exec, h.HTTPGet, h.TCPSocket)
	if h.Sleep != nil {
		set = append(set, handler{"sleep", func(path *field.Path) field.ErrorList { return validateSleep(h.Sleep, grace, path) }})
	}
	return validateHandlers(set, path)
}

// validateSleep lets a hook sleep for no longer than the pod may take to end. What is
// wrong with the grace itself is told of there.
func validateSleep(sleep *corev1.SleepAction, grace *int64, path *field.Path) field.ErrorList {
	if grace == nil || sleep.Seconds >= 0 && sleep.Seconds <= *grace {
		return nil
	}
	return field.ErrorList{field.Invalid(path, sleep.Seconds,
		fmt.Sprintf("must be non-negative and less than terminationGracePeriodSeconds (%d)", *grace))}
}

func validateStopSignal(signal corev1.Signal, os *corev1.PodOS, path *field.Path) field.ErrorList {
	if os == nil || os.Name == "" {
		return field.ErrorList{field.Forbidden(path, "may not be set for containers with empty `spec.os.name`")}
	}
	return oneOf(path, signal, stopSignals...)
}
