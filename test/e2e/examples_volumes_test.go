// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

// Of volumes.
var volumeExamples = map[string]example{
	"empty-dir.yaml": {see: []step{isRunning("empty-dir"), logs("empty-dir", "app", "/cache\n", "16.0M", "/dev/shm\n")}},
	"sub-path.yaml":  {see: []step{isRunning("sub-path"), logs("sub-path", "app", "Welcome.\n", "/all/sub-path/app.log\n")}},
	"projected.yaml": {see: []step{
		isRunning("projected"),
		logs("projected", "show", "\n-r--r-----", " app.conf\n", "/secrets:\n", "\n-r--------", " password\n", "/pod:\n"),
	}},
	"downward-api.yaml": {see: []step{
		isRunning("downward-api"),
		logs("downward-api", "show", "app=\"downward-api\"", "==> /about/limits/cpu-millis <==\n500", "==> /about/limits/memory-mi <==\n64"),
		does("annotate", "pod", "downward-api", "--overwrite", "note=hello"),
		logs("downward-api", "show", "==> /about/note <==\nhello"),
	}},
	"service-account-token.yaml": {see: []step{isRunning("reporter"), claims("reporter", "show", "vault", "reporter")}},
	"image-volume.yaml":          {see: []step{isRunning("image-volume"), logs("image-volume", "show", "index.html")}},
	"volume-permissions.yaml": {see: []step{
		isRunning("volume-permissions"),
		logs("volume-permissions", "app", "uid=1000", "2000", "example", " 1000     2000 "),
	}},
}
