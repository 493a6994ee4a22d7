// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"encoding/json"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	tableType   = "application/json;as=Table;v=v1;g=meta.k8s.io"
	partialType = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
)

// cells returns a row by the names of its columns.
func cells(columns []metav1.TableColumnDefinition, row metav1.TableRow) map[string]string {
	out := map[string]string{}
	for i, c := range columns {
		out[c.Name] = fmt.Sprint(row.Cells[i])
	}
	return out
}

func TestTableOfAList(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("web"), 201, &pod)

	for include, kind := range map[string]string{"": "PartialObjectMetadata", "None": "", "Object": "Pod"} {
		var table metav1.Table
		s.do(t, "GET", podPath+"?includeObject="+include, "", 200, &table, "Accept", tableType+",application/json")
		if table.Kind != "Table" || table.APIVersion != "meta.k8s.io/v1" || table.ResourceVersion == "" || len(table.Rows) != 1 {
			t.Fatalf("table %s %s at %q with %d rows", table.APIVersion, table.Kind, table.ResourceVersion, len(table.Rows))
		}
		row := cells(table.ColumnDefinitions, table.Rows[0])
		if row["Name"] != "web" || row["Ready"] != "0/1" || row["Status"] != "Pending" || row["Node"] != "n1" {
			t.Errorf("row %v", row)
		}
		var object metav1.PartialObjectMetadata
		if raw := table.Rows[0].Object.Raw; len(raw) > 0 {
			if err := json.Unmarshal(raw, &object); err != nil {
				t.Fatal(err)
			}
		}
		if object.Kind != kind || kind != "" && object.Name != "web" {
			t.Errorf("includeObject=%s carries a %q named %q, want a %q", include, object.Kind, object.Name, kind)
		}
	}
}

// TestTablesOfAWatchNameTheirColumnsOnce, as kubectl expects them.
func TestTablesOfAWatchNameTheirColumnsOnce(t *testing.T) {
	s := newServer(t)
	w := s.watch(t, podPath+"?watch=true", "Accept", tableType)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("a"), 201, &pod)
	s.do(t, "DELETE", podPath+"/a", "", 200, &pod)
	for i, kind := range []string{"ADDED", "MODIFIED"} {
		e, _ := w.next()
		var table metav1.Table
		if err := json.Unmarshal(e.Object, &table); err != nil {
			t.Fatal(err)
		}
		if e.Type != kind || len(table.Rows) != 1 || table.Rows[0].Cells[0] != "a" {
			t.Errorf("event %s %s, want %s of a", e.Type, e.Object, kind)
		}
		if named := len(table.ColumnDefinitions) > 0; named != (i == 0) {
			t.Errorf("event %d names its columns: %t", i, named)
		}
	}
}

func TestMetadataAlone(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("web"), 201, &pod)
	var list struct {
		metav1.TypeMeta
		Items []map[string]any
	}
	s.do(t, "GET", podPath, "", 200, &list, "Accept", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
	if list.Kind != "PartialObjectMetadataList" || len(list.Items) != 1 || list.Items[0]["spec"] != nil {
		t.Errorf("list %+v", list)
	}
	var one metav1.PartialObjectMetadata
	s.do(t, "GET", podPath+"/web", "", 200, &one, "Accept", partialType)
	if one.Kind != "PartialObjectMetadata" || one.UID != pod.UID {
		t.Errorf("object %+v", one)
	}
	_, body := s.call(t, "GET", podPath+"/web", "", "Accept", "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	if string(body[:4]) != "k8s\x00" {
		t.Errorf("body %q", body)
	}
}

// TestWatchListEndsItsInitialEvents with the bookmark that informers wait for.
func TestWatchListEndsItsInitialEvents(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	s.do(t, "POST", podPath, podJSON("a"), 201, &pod)
	const options = "&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
	w := s.watch(t, podPath+"?watch=true&sendInitialEvents=true&resourceVersion="+pod.ResourceVersion+options)
	w.want("ADDED", "a")
	end := w.want("BOOKMARK", "")
	if end.Annotations[metav1.InitialEventsAnnotationKey] != "true" || end.ResourceVersion < pod.ResourceVersion {
		t.Errorf("bookmark %+v", end.ObjectMeta)
	}

	now := s.watch(t, podPath+"?watch=true&sendInitialEvents=false"+options)
	s.do(t, "POST", podPath, podJSON("b"), 201, &pod)
	w.want("ADDED", "b")
	now.want("ADDED", "b") // and not a, which was there before
}

// TestB032RunningSidecarIsNoPendingInit, in a Table and in JSON.
func TestB032RunningSidecarIsNoPendingInit(t *testing.T) {
	s := newServer(t)
	var pod corev1.Pod
	running := `"ready":true,"started":true,"state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}`
	s.put(t, podWithSidecar())
	s.do(t, "PUT", podPath+"/web/status", `{"metadata":{"name":"web"},"status":{"phase":"Running",
	"conditions":[{"type":"Ready","status":"True"}],
	"initContainerStatuses":[{"name":"sidecar","restartCount":0,"image":"","imageID":"",`+running+`}],
	"containerStatuses":[{"name":"c","restartCount":0,"image":"","imageID":"",`+running+`}]}}`, 200, &pod)

	var table metav1.Table
	s.do(t, "GET", podPath+"/web", "", 200, &table, "Accept", tableType)
	if row := cells(table.ColumnDefinitions, table.Rows[0]); row["Ready"] != "2/2" || row["Status"] != "Running" {
		t.Errorf("row %v", row)
	}
	s.do(t, "GET", podPath+"/web", "", 200, &pod)
	if pod.Status.Phase != corev1.PodRunning || !pod.Status.InitContainerStatuses[0].Ready {
		t.Errorf("status %+v", pod.Status)
	}
}

// podWithSidecar is what a store may have, whatever the API takes in.
func podWithSidecar() *corev1.Pod {
	always := corev1.ContainerRestartPolicyAlways
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u"},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "sidecar", Image: "proxy:1", RestartPolicy: &always}},
			Containers:     []corev1.Container{{Name: "c", Image: "app:1"}},
		},
	}
}
