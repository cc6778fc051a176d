package shell

import (
	"slices"
	"strings"
)

// dirs is the set of directories in which the shell could be. The zero value
// is the empty set: a place that is reached in no way that was followed.
type dirs struct {
	unknown bool
	list    [][]string
}

var unknownDir = dirs{unknown: true}

// outcome says where the shell could be after a command that succeeded, and
// after one that failed.
type outcome struct{ ok, fail dirs }

func same(d dirs) outcome { return outcome{ok: d, fail: d} }

func (o outcome) either() dirs { return o.ok.union(o.fail) }

func (d dirs) union(e dirs) dirs {
	if d.unknown || e.unknown {
		return unknownDir
	}
	all := slices.Clone(d.list)
	for _, steps := range e.list {
		if !slices.ContainsFunc(all, func(s []string) bool { return slices.Equal(s, steps) }) {
			all = append(all, steps)
		}
	}
	if len(all) > MaxDirs {
		return unknownDir
	}
	return dirs{list: all}
}

// step follows one literal argument of cd.
func (d dirs) step(to string) dirs {
	if d.unknown && !anchored(to) {
		return unknownDir
	}
	if anchored(to) {
		return dirs{list: [][]string{{to}}}
	}
	var out dirs
	for _, steps := range d.list {
		out = out.union(dirs{list: [][]string{append(slices.Clone(steps), to)}})
	}
	return out
}

// anchored says that a step doesn't depend on the directory before it.
func anchored(step string) bool {
	return strings.HasPrefix(step, "/") || step == "~" || strings.HasPrefix(step, "~/")
}

func (d dirs) dir() Dir {
	switch {
	case d.unknown || len(d.list) == 0:
		return Dir{Unknown: true}
	case len(d.list) == 1:
		return Dir{Steps: d.list[0]}
	default:
		return Dir{Unknown: true, Either: d.list}
	}
}

// moving names the builtins after which the shell may be anywhere.
var moving = map[string]bool{
	"pushd": true, "popd": true, "eval": true, "source": true, ".": true,
}

// after says where the shell could be once the command of words has run.
func (r *reader) after(words []Word, in dirs) outcome {
	name := words[0].Text
	switch {
	case !words[0].Known || words[0].Glob:
		return same(unknownDir)
	case r.facts.functions[name] != nil:
		if r.facts.functionsMove {
			return same(unknownDir)
		}
	case moving[name]:
		return same(unknownDir)
	case name == "command" || name == "builtin":
		if r.movesInside(words[1:]) {
			return same(unknownDir)
		}
	case name == "cd":
		return r.cd(words[1:], in)
	case name == "exit" && endsShell(words[1:]):
		return outcome{}
	}
	return same(in)
}

// movesInside says whether words, run by `command` or `builtin`, could change
// the directory.
func (r *reader) movesInside(words []Word) bool {
	for _, w := range words {
		switch {
		case !w.Known || w.Glob:
			return true
		case w.Text == "-v" || w.Text == "-V":
			return false
		case strings.HasPrefix(w.Text, "-") || w.Text == "command" || w.Text == "builtin":
		default:
			return w.Text == "cd" || moving[w.Text]
		}
	}
	return false
}

// endsShell says whether exit with these arguments certainly ends the shell:
// with more than one it only complains.
func endsShell(args []Word) bool {
	if len(args) == 0 {
		return true
	}
	return len(args) == 1 && args[0].Known && isDigits(args[0].Text)
}

// cd follows a cd with these arguments; a cd may always fail.
func (r *reader) cd(args []Word, in dirs) outcome {
	lost := outcome{ok: unknownDir, fail: in}
	for len(args) > 0 && args[0].Known && (args[0].Text == "-L" || args[0].Text == "--") {
		last := args[0].Text == "--"
		args = args[1:]
		if last {
			break
		}
	}
	if len(args) == 0 {
		if r.facts.assigned["HOME"] {
			return lost
		}
		return outcome{ok: in.step("~"), fail: in}
	}
	to := args[0].Text
	switch {
	case len(args) > 1, !args[0].Known, args[0].Glob, args[0].ValueTilde, to == "", to == "-":
		return lost
	case strings.HasPrefix(to, "-"):
		// After -- it would be a name, but options such as -P come here too.
		return lost
	case strings.HasPrefix(to, "~") && !args[0].Tilde:
		to = "./" + to
	}
	relative := !anchored(to) && to != "." && to != ".." && !strings.HasPrefix(to, "./") && !strings.HasPrefix(to, "../")
	if relative && r.facts.assigned["CDPATH"] {
		return lost
	}
	return outcome{ok: in.step(to), fail: in}
}
