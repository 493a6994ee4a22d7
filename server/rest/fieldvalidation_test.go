// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestB095MisspeltFieldsAreTold for all forms in which a pod is written.
func TestB095MisspeltFieldsAreTold(t *testing.T) {
	const (
		misspelt = `{"metadata":{"name":"NAME"},"spec":{"restarPolicy":"Never","containers":[{"name":"c","image":"busybox","comand":["true"]}]}}`
		twice    = `{"metadata":{"name":"NAME"},"spec":{"containers":[{"name":"c","image":"a","image":"b"}]}}`
		yaml     = "metadata: {name: NAME}\nspec:\n  restarPolicy: Never\n  containers:\n  - {name: c, image: busybox, comand: ['true']}\n"
		yamlTwo  = "metadata: {name: NAME}\nspec:\n  containers:\n  - {name: c, image: a, image: b}\n"
	)
	unknown := []string{`unknown field "spec.containers[0].comand"`, `unknown field "spec.restarPolicy"`}
	for name, tc := range map[string]struct {
		body, contentType string
		findings          []string
	}{
		"JSON":       {misspelt, "application/json", unknown},
		"JSON twice": {twice, "application/json", []string{`duplicate field "spec.containers[0].image"`}},
		"YAML":       {yaml, "application/yaml", unknown},
		"YAML twice": {yamlTwo, "application/yaml", []string{`key "image" already set in map`}},
	} {
		for _, validation := range []string{"", "Warn", "Strict", "Ignore"} {
			t.Run(name+" "+validation, func(t *testing.T) {
				s := newServer(t)
				resp, body := s.call(t, "POST", podPath+"?fieldValidation="+validation, strings.ReplaceAll(tc.body, "NAME", "p"), "Content-Type", tc.contentType)
				told := strings.ReplaceAll(strings.Join(resp.Header.Values("Warning"), "\n"), `\"`, `"`)
				if validation == "Strict" {
					var status metav1.Status
					if err := json.Unmarshal(body, &status); err != nil || status.Code != 400 || status.Reason != metav1.StatusReasonBadRequest || resp.StatusCode != 400 {
						t.Fatalf("%v, %d %s", err, resp.StatusCode, body)
					}
					told = status.Message
				} else if resp.StatusCode != 201 {
					t.Fatalf("%d %s", resp.StatusCode, body)
				}
				for _, finding := range tc.findings {
					if strings.Contains(told, finding) != (validation != "Ignore") {
						t.Errorf("told %q, want %q", told, finding)
					}
				}
				if n := len(resp.Header.Values("Warning")); (validation == "" || validation == "Warn") && n != len(tc.findings) {
					t.Errorf("%d warnings for %d fields", n, len(tc.findings))
				}
			})
		}
	}
}

// TestB098WarningsComeWithTheAnswer that accepts the pod.
func TestB098WarningsComeWithTheAnswer(t *testing.T) {
	s := newServer(t)
	for limits, want := range map[string]string{
		`{"memory":"128m"}`:            "did you mean 128Mi?",
		`{"memory":"5Mi"}`:             "below the runtime's minimum of 6Mi",
		`{"cpu":"0.5","memory":"64M"}`: "",
	} {
		var pod corev1.Pod
		resp := s.do(t, "POST", podPath, `{"metadata":{"generateName":"p"},"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i","resources":{"limits":`+limits+`}}]}}`, 201, &pod)
		told := strings.Join(resp.Header.Values("Warning"), "\n")
		if (want == "") != (told == "") || !strings.Contains(told, want) {
			t.Errorf("%s: warned %q, want %q", limits, told, want)
		}
	}
}
