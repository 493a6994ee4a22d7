// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestUnservedSaysWhatToDoInstead(t *testing.T) {
	const pod = "/api/v1/namespaces/ns/pods/web"
	for path, want := range map[string]string{
		pod + "/exec?command=true&container=c":              "berth does not run commands in containers. ",
		pod + "/portforward":                                "berth does not forward ports. ",
		"/api/v1/namespaces/ns/serviceaccounts/robot/token": "",
		"/api/v1/nodes/node1/proxy":                         "berth is no proxy to nodes. ",
		pod:                                                 "",
		pod + "/log":                                        "",
		pod + "/ephemeralcontainers":                        "",
		pod + "/resize":                                     "",
		pod + "/none":                                       "",
		"/api/v1/namespaces/ns/configmaps/exec":             "",
		"/apis/apps/v1/namespaces/ns/deployments/web/status": "",
	} {
		err := unserved(httptest.NewRequest(http.MethodPost, path, nil))
		if (err == nil) != (want == "") {
			t.Errorf("%s: %v, want %q", path, err, want)
		} else if err != nil && (!apierrors.IsMethodNotSupported(err) || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%s: %#v, want %q", path, err, want)
		}
	}
}
