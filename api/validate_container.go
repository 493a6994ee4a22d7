// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateContainer(c *corev1.Container, volumes sets.Set[string], path *field.Path) field.ErrorList {
	errs := requiredOr(path.Child("name"), c.Name, validation.IsDNS1123Label)
	errs = append(errs, requiredOr(path.Child("image"), c.Image, checkImage)...)
	errs = append(errs, oneOf(path.Child("imagePullPolicy"), c.ImagePullPolicy,
		corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
	for i, word := range c.Command {
		errs = append(errs, withoutNUL(word, path.Child("command").Index(i))...)
	}
	for i, word := range c.Args {
		errs = append(errs, withoutNUL(word, path.Child("args").Index(i))...)
	}
	errs = append(errs, withoutNUL(c.WorkingDir, path.Child("workingDir"))...)
	errs = append(errs, withoutNUL(c.TerminationMessagePath, path.Child("terminationMessagePath"))...)
	errs = append(errs, oneOf(path.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, validatePorts(c.Ports, path.Child("ports"))...)
	errs = append(errs, validateEnv(c.Env, path.Child("env"))...)
	errs = append(errs, validateEnvFrom(c.EnvFrom, path.Child("envFrom"))...)
	errs = append(errs, validateVolumeMounts(c, volumes, path.Child("volumeMounts"))...)
	return append(errs, validateResources(&c.Resources, path.Child("resources"))...)
}

// withoutNUL refuses what no process can be given: the kernel ends its texts with
// the character.
func withoutNUL(text string, path *field.Path) field.ErrorList {
	return invalidAll(path, text, checkNUL(text))
}

func checkNUL(text string) []string {
	if !strings.ContainsRune(text, 0) {
		return nil
	}
	return []string{"must not contain the character NUL (U+0000)"}
}

func checkImage(image string) []string {
	if strings.TrimSpace(image) != image {
		return []string{"must not have leading or trailing whitespace"}
	}
	return nil
}
