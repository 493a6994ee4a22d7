// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateConfigMap(c *corev1.ConfigMap) field.ErrorList {
	size := 0
	errs := validateKeys(c.Data, field.NewPath("data"))
	errs = append(errs, validateKeys(c.BinaryData, field.NewPath("binaryData"))...)
	for _, value := range c.Data {
		size += len(value)
	}
	for _, key := range sets.List(sets.KeySet(c.BinaryData)) {
		size += len(c.BinaryData[key])
		if _, twice := c.Data[key]; twice {
			errs = append(errs, field.Invalid(field.NewPath("binaryData").Key(key), key, "duplicate of key present in data"))
		}
	}
	return append(errs, validateDataSize(size)...)
}

func validateSecret(s *corev1.Secret) field.ErrorList {
	size := 0
	for _, value := range s.Data {
		size += len(value)
	}
	errs := validateKeys(s.Data, field.NewPath("data"))
	errs = append(errs, validateDataSize(size)...)
	return append(errs, validateSecretType(s)...)
}

func validateKeys[V any](data map[string]V, path *field.Path) (errs field.ErrorList) {
	for _, key := range sets.List(sets.KeySet(data)) {
		errs = append(errs, invalidAll(path.Key(key), key, validation.IsConfigMapKey(key))...)
	}
	return errs
}

func validateDataSize(size int) field.ErrorList {
	if size <= corev1.MaxSecretSize {
		return nil
	}
	return field.ErrorList{field.TooLong(field.NewPath("data"), "", corev1.MaxSecretSize)}
}

// validateSecretType looks for what the types that clients rely on promise.
func validateSecretType(s *corev1.Secret) field.ErrorList {
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			return field.ErrorList{field.Required(field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), "")}
		}
	case corev1.SecretTypeDockercfg:
		return requireJSON(s, corev1.DockerConfigKey)
	case corev1.SecretTypeDockerConfigJson:
		return requireJSON(s, corev1.DockerConfigJsonKey)
	case corev1.SecretTypeBasicAuth:
		if !hasKey(s, corev1.BasicAuthUsernameKey) {
			return requireKeys(s, corev1.BasicAuthPasswordKey)
		}
	case corev1.SecretTypeSSHAuth:
		return requireKeys(s, corev1.SSHAuthPrivateKey)
	case corev1.SecretTypeTLS:
		return requireKeys(s, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	return nil
}

func hasKey(s *corev1.Secret, key string) bool {
	_, ok := s.Data[key]
	return ok
}

func requireKeys(s *corev1.Secret, keys ...string) (errs field.ErrorList) {
	for _, key := range keys {
		if !hasKey(s, key) {
			errs = append(errs, field.Required(field.NewPath("data").Key(key), ""))
		}
	}
	return errs
}

// requireJSON never shows the content: it is secret.
func requireJSON(s *corev1.Secret, key string) field.ErrorList {
	if errs := requireKeys(s, key); len(errs) > 0 {
		return errs
	}
	if !json.Valid(s.Data[key]) {
		return field.ErrorList{field.Invalid(field.NewPath("data").Key(key), "<secret contents redacted>", "must be valid JSON")}
	}
	return nil
}

const immutableSet = "field is immutable when `immutable` is set"

func validateConfigMapUpdate(c, old *corev1.ConfigMap) (errs field.ErrorList) {
	if !isTrue(old.Immutable) {
		return nil
	}
	errs = append(errs, keepTrue(c.Immutable)...)
	errs = append(errs, keepEqual(c.Data, old.Data, field.NewPath("data"))...)
	return append(errs, keepEqual(c.BinaryData, old.BinaryData, field.NewPath("binaryData"))...)
}

func validateSecretUpdate(s, old *corev1.Secret) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))
	if !isTrue(old.Immutable) {
		return errs
	}
	errs = append(errs, keepTrue(s.Immutable)...)
	return append(errs, keepEqual(s.Data, old.Data, field.NewPath("data"))...)
}

func isTrue(b *bool) bool { return b != nil && *b }

func keepTrue(immutable *bool) field.ErrorList {
	if isTrue(immutable) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("immutable"), immutableSet)}
}

func keepEqual(now, before any, path *field.Path) field.ErrorList {
	if apiequality.Semantic.DeepEqual(now, before) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, immutableSet)}
}
