package main

import (
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/guardrails-provider/guardrails-provider/bus"
)

// health serves /healthz, the process lives, and /readyz, checks are answered.
type health struct {
	server  *http.Server
	address string // empty: off
}

func startHealth(address string, p *bus.Provider) (*health, error) {
	if address == "off" || address == "" {
		return &health{}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return nil, couldNot("%s is taken; choose another address with --http", address)
		}
		return nil, couldNot("%s; choose another address with --http", oneLine(err))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, true, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if p.Ready() {
			say(w, true, "ready")
		} else {
			say(w, false, "not connected to NATS, or stopping")
		}
	})
	h := &health{&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, l.Addr().String()}
	go func() { _ = h.server.Serve(l) }() // it ends with stop
	return h, nil
}

func say(w http.ResponseWriter, ok bool, text string) {
	if !ok {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write([]byte(text + "\n")) // a client that went is no trouble
}

func (h *health) stop() {
	if h.server != nil {
		_ = h.server.Close()
	}
}
