package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/guardrails-provider/guardrails-provider/policy"
)

//go:embed starter.checks.jsonl
var starterChecks []byte

type initCmd struct {
	Dir   string `arg:"" optional:"" default:"." help:"Folder to write to."`
	Force bool   `help:"Overwrite files that are there."`
}

func (*initCmd) Help() string {
	return `Writes guardrails.yaml, a commented starter policy, and guardrails.checks.jsonl, checks to
try it with: guardrails-provider eval --policy guardrails.yaml < guardrails.checks.jsonl

Example:
  guardrails-provider init .`
}

func (c *initCmd) Run(a *app) error {
	home, _ := os.UserHomeDir() // without one, the line stays a comment
	files := []struct {
		name string
		text []byte
	}{
		{"guardrails.yaml", policy.StarterText(home)},
		{"guardrails.checks.jsonl", starterChecks},
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return couldNot("%s", oneLine(err))
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.Force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	} else {
		for _, f := range files { // both or none
			if _, err := os.Lstat(filepath.Join(c.Dir, f.name)); err == nil {
				return couldNot("%s is there already; --force overwrites it", filepath.Join(c.Dir, f.name))
			}
		}
	}
	for _, f := range files {
		name := filepath.Join(c.Dir, f.name)
		if err := writeFile(name, flags, f.text); err != nil {
			if errors.Is(err, fs.ErrExist) {
				return couldNot("%s is there already; --force overwrites it", name)
			}
			return couldNot("%s", oneLine(err))
		}
		fmt.Fprintln(a.stdout, "wrote "+name)
	}
	policyFile, checks := shellWord(filepath.Join(c.Dir, files[0].name)), shellWord(filepath.Join(c.Dir, files[1].name))
	fmt.Fprintf(a.stdout, "\nTry it:\n  %s eval --policy %s < %s\n  %s serve --policy %s\n",
		program(), policyFile, checks, program(), policyFile)
	return nil
}

func writeFile(name string, flags int, text []byte) error {
	f, err := os.OpenFile(name, flags, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(text); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
