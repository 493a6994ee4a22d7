// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestLargeAnswersAreCompressed(t *testing.T) {
	s := newServer(t)
	var c corev1.ConfigMap
	const path = "/api/v1/namespaces/default/configmaps"
	s.do(t, "POST", path, `{"metadata":{"name":"large"},"data":{"k":"`+strings.Repeat("x", compressFrom)+`"}}`, 201, &c)
	s.do(t, "POST", path, `{"metadata":{"name":"small"}}`, 201, &c)

	for name, want := range map[string]string{"/large": "gzip", "": "gzip", "/small": ""} {
		for _, form := range []string{"application/json", "application/vnd.kubernetes.protobuf"} {
			resp, body := s.call(t, "GET", path+name, "", "Accept-Encoding", "gzip", "Accept", form)
			if got := resp.Header.Get("Content-Encoding"); got != want {
				t.Errorf("%s of %q has Content-Encoding %q, want %q", form, name, got, want)
			}
			if want == "gzip" && len(body) > compressFrom/4 {
				t.Errorf("%s of %q takes %d bytes", form, name, len(body))
			}
		}
	}
	_, body := s.call(t, "GET", path+"/large", "", "Accept-Encoding", "gzip")
	r, err := gzip.NewReader(strings.NewReader(string(body)))
	if err == nil {
		err = json.NewDecoder(r).Decode(&c)
	}
	if err != nil || len(c.Data["k"]) != compressFrom {
		t.Errorf("%v, %d bytes of data", err, len(c.Data["k"]))
	}
	if resp, _ := s.call(t, "GET", path+"/large", "", "Accept-Encoding", "identity"); resp.Header.Get("Content-Encoding") != "" {
		t.Error("compressed although it was not accepted")
	}
	w := s.watch(t, path+"?watch=true", "Accept-Encoding", "gzip")
	if w.resp.Header.Get("Content-Encoding") != "" {
		t.Error("a watch is compressed")
	}
}
