package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// baseName is the last element of a program's path.
func baseName(w shell.Word) string { return path.Base(w.Text) }

// hasFolder says whether a program is named by a path.
func hasFolder(w shell.Word) bool { return strings.Contains(w.Text, "/") }

// installed says whether a program that is named by a path is hardly the
// project's own: `.venv/bin/python`, and not `./watch`.
func installed(w shell.Word) bool {
	if !w.Known || w.Glob || !hasFolder(w) {
		return false
	}
	return w.Tilde || path.IsAbs(w.Text) || slices.Contains(strings.Split(path.Dir(w.Text), "/"), "bin") ||
		slices.Contains(strings.Split(path.Dir(w.Text), "/"), ".bin")
}

// gitByPath finds the subcommand in `/usr/lib/git-core/git-push`.
func gitByPath(w shell.Word) (shell.Word, bool) {
	name, ok := strings.CutPrefix(baseName(w), "git-")
	if !w.Known || w.Glob || !ok || name == "" || path.Base(path.Dir(w.Text)) != "git-core" {
		return shell.Word{}, false
	}
	return shell.Word{Text: name, Known: true, Start: w.Start, End: w.End}, true
}

// withoutToolchain takes the +nightly of `cargo +nightly build` away.
func withoutToolchain(words []shell.Word) []shell.Word {
	if len(words) < 2 || !words[1].Known || !strings.HasPrefix(words[1].Text, "+") {
		return words
	}
	if name := baseName(words[0]); name != "cargo" && name != "rustc" && name != "rustdoc" {
		return words
	}
	return slices.Delete(slices.Clone(words), 1, 2)
}

// anywhere returns the words of a command as patterns see them: without what
// only says which git, or which toolchain.
func anywhere(words []shell.Word) []shell.Word {
	if name, ok := gitByPath(words[0]); ok {
		return append([]shell.Word{{Text: "git", Known: true, Start: words[0].Start, End: words[0].End}, name}, words[1:]...)
	}
	return withoutToolchain(words)
}

// namedProgram is the program's own file, which is read where it is run.
func namedProgram(w shell.Word) []File {
	if !w.Known || w.Glob || !hasFolder(w) {
		return nil
	}
	return []File{{Word: w, Access: shell.AccessRead, Name: true}}
}
