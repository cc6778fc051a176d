package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/policy"
	"github.com/guardrails-provider/guardrails-provider/policy/source"
)

type validateCmd struct {
	Files  []string `arg:"" optional:"" name:"policy" help:"Policy files and folders."`
	Policy []string `help:"The same, as serve takes them." placeholder:"FILE|DIR"`
	JSON   bool     `help:"Print JSON."`
}

func (*validateCmd) Help() string {
	return `Reads policies as serve would, and prints every mistake as file:line:column: key: what and
what instead. Exit: 0 valid, 1 not.

Example:
  guardrails-provider validate guardrails.yaml`
}

// mistake is a source.Mistake as JSON.
type mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Path    string `json:"path,omitempty"`
	Problem string `json:"problem"`
}

// validated is what validate found, as JSON.
type validated struct {
	Valid    bool      `json:"valid"`
	Hash     string    `json:"policyHash,omitempty"`
	Mode     string    `json:"mode,omitempty"`
	Default  string    `json:"default,omitempty"`
	Zones    int       `json:"zones"`
	Mistakes []mistake `json:"mistakes"`
}

func (v *validateCmd) Run(a *app) error {
	paths := append(append([]string{}, v.Policy...), v.Files...)
	if len(paths) == 0 {
		return wrongUse("name the policy files: guardrails-provider validate guardrails.yaml")
	}
	p, err := policy.Load(paths...)
	var mistakes *source.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		return couldNot("%s", oneLine(err))
	}
	if v.JSON {
		out := validated{Mistakes: []mistake{}}
		if err == nil {
			out.Valid, out.Hash, out.Mode, out.Default, out.Zones = true, p.Hash(), string(p.Mode()), string(p.Default()), p.Zones()
		} else {
			for _, m := range mistakes.List {
				out.Mistakes = append(out.Mistakes, mistake(m))
			}
		}
		if err := json.NewEncoder(a.stdout).Encode(out); err != nil {
			return err
		}
		if !out.Valid {
			return &exit{code: exitNo}
		}
		return nil
	}
	if err != nil {
		fmt.Fprintln(a.stdout, mistakes.Error())
		return &exit{exitNo, fmt.Errorf("not valid: %s; correct the lines above", plural(len(mistakes.List), "mistake"))}
	}
	_, err = fmt.Fprintf(a.stdout, "%s: valid; %s, mode %s, default %s, %s\n",
		strings.Join(paths, ", "), plural(p.Zones(), "zone"), p.Mode(), p.Default(), p.Hash())
	return err
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// loadProblem turns a policy that does not load into one line.
func loadProblem(err error) error {
	var mistakes *source.Mistakes
	if !errors.As(err, &mistakes) {
		return couldNot("%s; name a policy file or folder that can be read, or leave --policy out for the starter policy", oneLine(err))
	}
	first := mistakes.List[0].String()
	if n := len(mistakes.List); n > 1 {
		return &exit{exitNo, fmt.Errorf("the policy does not load: %s (and %d more; guardrails-provider validate lists all)", first, n-1)}
	}
	return &exit{exitNo, fmt.Errorf("the policy does not load: %s", first)}
}
