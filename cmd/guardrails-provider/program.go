package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// program returns the words that start this program again, as they are to be
// pasted: as it was started, or with go run, which keeps the program nowhere.
func program() string {
	self, err := os.Executable()
	if err != nil {
		return "guardrails-provider"
	}
	if strings.Contains(self, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/guardrails-provider"
	}
	if found, err := exec.LookPath("guardrails-provider"); err == nil && sameFile(found, self) {
		return "guardrails-provider"
	}
	return shellWord(self)
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// shellWord quotes a word where a shell needs it.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:,@%+=", r)
	}
	if word != "" && strings.TrimFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
