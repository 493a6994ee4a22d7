// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Command testapp is the program in the containers of the end-to-end tests. Its
// first argument says how it behaves.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const usage = `usage: testapp MODE [ARG...]
  serve PORT         serve HTTP: / (host name), /env?name=N, /file?path=P
  health PORT FILE   serve gRPC health, SERVING while the file is there
  grpc-health-checking [--port PORT] [--delay-unhealthy-sec N]
                     serve gRPC health as agnhost does, SERVING for so long
  sleep              wait for SIGTERM
  term SECONDS       on SIGTERM, go on for that long, then exit with 0
  ignore             ignore SIGTERM
  tick MS            print a numbered line at that interval
  crash MS           exit with 1 after that long
  exit CODE          exit at once
  write FILE TEXT    write a file
  append FILE TEXT   add a line to a file
  cat FILE...        print files
  env                print the environment`

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "testapp:", err)
		os.Exit(125)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("no mode\n%s", usage)
	}
	arg := func(i int) string {
		if i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	switch args[0] {
	case "serve":
		return serve(arg(0))
	case "health":
		return serveHealth(arg(0), whileThere(arg(1)))
	case "grpc-health-checking":
		return agnhostHealth(args[1:])
	case "sleep":
		awaitTerm()
	case "term":
		return endSlowly(arg(0))
	case "ignore":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ignoring SIGTERM")
		time.Sleep(time.Hour) // a plain select{} would be reported as a deadlock
	case "tick":
		return tick(arg(0))
	case "crash":
		return crash(arg(0))
	case "exit":
		return exit(arg(0))
	case "write":
		return os.WriteFile(arg(0), []byte(arg(1)), 0o644)
	case "append":
		return appendLine(arg(0), arg(1))
	case "cat":
		return cat(args[1:])
	case "env":
		for _, e := range os.Environ() {
			fmt.Println(e)
		}
	default:
		return fmt.Errorf("mode %q is unknown\n%s", args[0], usage)
	}
	return nil
}

func terms() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	return c
}

func awaitTerm() {
	<-terms()
	fmt.Println("got SIGTERM")
}

func serve(port string) error {
	term := terms()
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		name, _ := os.Hostname()
		fmt.Fprintln(w, "hello from", name)
	})
	http.HandleFunc("GET /env", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, os.Getenv(r.FormValue("name")))
	})
	http.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) {
		content, err := os.ReadFile(r.FormValue("path"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		w.Write(content)
	})
	failed := make(chan error, 1)
	go func() { failed <- http.ListenAndServe(":"+port, nil) }()
	fmt.Println("serving on", port)
	select {
	case err := <-failed:
		return err
	case <-term:
		return nil
	}
}

func endSlowly(seconds string) error {
	n, err := strconv.Atoi(seconds)
	if err != nil {
		return err
	}
	term := terms()
	fmt.Println("trapping SIGTERM")
	<-term
	fmt.Println("got SIGTERM")
	time.Sleep(time.Duration(n) * time.Second)
	fmt.Println("bye")
	return nil
}

func tick(ms string) error {
	n, err := strconv.Atoi(ms)
	if err != nil {
		return err
	}
	term := terms()
	ticker := time.NewTicker(time.Duration(n) * time.Millisecond)
	for i := 1; ; i++ {
		fmt.Println("line", i)
		select {
		case <-ticker.C:
		case <-term:
			return nil
		}
	}
}

func crash(ms string) error {
	n, err := strconv.Atoi(ms)
	if err != nil {
		return err
	}
	time.Sleep(time.Duration(n) * time.Millisecond)
	fmt.Println("crashing")
	os.Exit(1)
	return nil
}

func exit(code string) error {
	n, err := strconv.Atoi(code)
	if err != nil {
		return err
	}
	os.Exit(n)
	return nil
}

func appendLine(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, text)
	return err
}

func cat(paths []string) error {
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		os.Stdout.Write(content)
	}
	return nil
}
