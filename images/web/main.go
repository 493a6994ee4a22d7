// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command web is the demo's application: a page that says where it runs.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// run serves on port 80 until ctx ends, and then finishes the requests under way.
func run(ctx context.Context) error {
	server := &http.Server{Addr: ":80", Handler: http.HandlerFunc(page), ReadHeaderTimeout: 5 * time.Second}
	drained := make(chan error, 1)
	go func() {
		<-ctx.Done()
		bounded, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		drained <- server.Shutdown(bounded)
	}()
	fmt.Println("serving on port 80")
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-drained
}

func page(w http.ResponseWriter, r *http.Request) {
	fmt.Println(r.Method, r.URL.Path, "from", r.RemoteAddr)
	fmt.Fprintf(w, "<h1>Hello from pod %s/%s on node %s</h1>\n", os.Getenv("NAMESPACE"), os.Getenv("POD"), os.Getenv("NODE"))
}
