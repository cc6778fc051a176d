package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

func (*versionCmd) Help() string {
	return "Example:\n  guardrails-provider version --json"
}

// versions is what a bug report needs.
type versions struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Protocol string `json:"protocol"`
	Go       string `json:"go"`
	Server   string `json:"natsServer"`
	Client   string `json:"natsClient"`
}

func (v *versionCmd) Run(a *app) error {
	all := versions{
		Version:  Version,
		Commit:   commit(),
		Protocol: protocol.Version,
		Go:       runtime.Version(),
		Server:   server.VERSION,
		Client:   nats.Version,
	}
	if v.JSON {
		return json.NewEncoder(a.stdout).Encode(all)
	}
	fmt.Fprintf(a.stdout, "guardrails-provider %s", all.Version)
	if all.Commit != "" {
		fmt.Fprintf(a.stdout, " (%s)", all.Commit)
	}
	_, err := fmt.Fprintf(a.stdout, "\nprotocol %s, %s, nats-server %s, nats.go %s\n", all.Protocol, all.Go, all.Server, all.Client)
	return err
}

// commit is the one that Go noted when it built the program; empty where it did not.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	revision, modified := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				modified = "+changes"
			}
		}
	}
	if len(revision) > 12 {
		revision = revision[:12]
	}
	if revision == "" {
		return ""
	}
	return revision + modified
}
