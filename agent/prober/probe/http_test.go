// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/berth-run/berth/agent/podtypes"
)

// app is the container that is asked.
var app = &corev1.Container{Name: "app"}

// generous is for answers that do come.
const generous = 30 * time.Second

// portOf returns where a listener is.
func portOf(t *testing.T, address string) (host string, port int32) {
	t.Helper()
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	return host, int32(n)
}

func answers(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/code":
		code, _ := strconv.Atoi(r.FormValue("code"))
		w.WriteHeader(code)
		fmt.Fprint(w, r.Proto, " ", r.Host, " ", r.UserAgent())
	case "/redirect":
		http.Redirect(w, r, r.FormValue("to"), http.StatusFound)
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusFound)
	case "/large":
		fmt.Fprint(w, strings.Repeat("x", 1<<20))
	case "/hang":
		<-r.Context().Done()
	}
}

func TestHTTP(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(answers))
	defer plain.Close()
	encrypted := httptest.NewTLSServer(http.HandlerFunc(answers))
	defer encrypted.Close()
	h2c := httptest.NewUnstartedServer(http.HandlerFunc(answers))
	h2c.Config.Protocols = new(http.Protocols)
	h2c.Config.Protocols.SetUnencryptedHTTP2(true)
	h2c.Start()
	defer h2c.Close()
	host, port := portOf(t, plain.Listener.Addr().String())
	_, tlsPort := portOf(t, encrypted.Listener.Addr().String())
	_, h2cPort := portOf(t, h2c.Listener.Addr().String())

	const (
		ok   = podtypes.ProbeSuccess
		bad  = podtypes.ProbeFailure
		none = podtypes.ProbeUnknown
	)
	for name, tc := range map[string]struct {
		get     corev1.HTTPGetAction
		result  podtypes.ProbeResult
		warning bool
		output  string
	}{
		"200":                     {get: corev1.HTTPGetAction{Path: "/code?code=200"}, result: ok, output: "HTTP/1.1 " + net.JoinHostPort(host, strconv.Itoa(int(port))) + " kube-probe/berth"},
		"304":                     {get: corev1.HTTPGetAction{Path: "/code?code=304"}, result: ok, warning: true},
		"404":                     {get: corev1.HTTPGetAction{Path: "/code?code=404"}, result: bad, output: "HTTP probe failed with statuscode: 404"},
		"500":                     {get: corev1.HTTPGetAction{Path: "/code?code=500"}, result: bad, output: "HTTP probe failed with statuscode: 500"},
		"encrypted":               {get: corev1.HTTPGetAction{Path: "/code?code=200", Scheme: "HTTPS", Port: intstr.FromInt32(tlsPort)}, result: ok, output: "HTTP/1.1"},
		"HTTP/2":                  {get: corev1.HTTPGetAction{Path: "/code?code=200", Protocol: ptr.To(corev1.HTTPProtocolHTTP2), Port: intstr.FromInt32(h2cPort)}, result: ok, output: "HTTP/2.0"},
		"a host header":           {get: corev1.HTTPGetAction{Path: "/code?code=200", HTTPHeaders: []corev1.HTTPHeader{{Name: "Host", Value: "a.test"}}}, result: ok, output: "HTTP/1.1 a.test"},
		"a redirect within":       {get: corev1.HTTPGetAction{Path: "/redirect?to=/code?code=503"}, result: bad, output: "HTTP probe failed with statuscode: 503"},
		"a redirect to another":   {get: corev1.HTTPGetAction{Path: "/redirect?to=http://elsewhere.invalid/"}, result: ok, warning: true, output: "Probe terminated redirects, Response body: <a href="},
		"redirects without end":   {get: corev1.HTTPGetAction{Path: "/loop"}, result: bad, output: "stopped after 10 redirects"},
		"too much":                {get: corev1.HTTPGetAction{Path: "/large"}, result: ok, output: strings.Repeat("x", maxOutput)},
		"nobody listens":          {get: corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(1)}, result: bad, output: "connect: connection refused"},
		"no such port":            {get: corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("web")}, result: none, output: `container app has no port named "web"`},
		"the other side is plain": {get: corev1.HTTPGetAction{Path: "/", Scheme: "HTTPS"}, result: bad, output: "server gave HTTP response to HTTPS client"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.get.Port == (intstr.IntOrString{}) {
				tc.get.Port = intstr.FromInt32(port)
			}
			got := NewHTTP().Probe(t.Context(), &tc.get, app, host, generous)
			if got.Result != tc.result || got.Warning != tc.warning || !strings.Contains(got.Output, tc.output) || len(got.Output) > maxOutput+100 {
				t.Errorf("%s, warning %t: %.200q", got.Result, got.Warning, got.Output)
			}
		})
	}
}

func TestHTTPTimesOut(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(answers))
	defer server.Close()
	host, port := portOf(t, server.Listener.Addr().String())
	get := &corev1.HTTPGetAction{Path: "/hang", Port: intstr.FromInt32(port)}
	got := NewHTTP().Probe(t.Context(), get, app, host, 50*time.Millisecond)
	if got.Result != podtypes.ProbeFailure || !strings.Contains(got.Output, "no answer within 50ms: context deadline exceeded") {
		t.Errorf("%s: %q", got.Result, got.Output)
	}
}
