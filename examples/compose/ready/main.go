// Command ready is the health check of a container without a shell: it exits 0
// where the URL that it is given answers 200, and 1 where it does not.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: ready URL")
		os.Exit(2)
	}
	client := http.Client{Timeout: 2 * time.Second}
	answer, err := client.Get(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "ready:", err)
		os.Exit(1)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		fmt.Fprintln(os.Stderr, "ready:", answer.Status)
		os.Exit(1)
	}
}
