package programs

import (
	"regexp"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// wrapper says how the words in front of the wrapped command are read: options
// that take the next word, options that stand alone, and operands.
type wrapper struct {
	valued, alone []string
	operand       *regexp.Regexp // of exactly one operand, if not nil
	variables     bool           // NAME=value may follow
}

var duration = regexp.MustCompile(`^[0-9]+(?:\.[0-9]+)?[smhd]?$`)

var wrappers = map[string]wrapper{
	"timeout": {valued: []string{"-s", "-k", "--signal", "--kill-after"}, alone: []string{"-v", "--preserve-status", "--foreground", "--verbose"}, operand: duration},
	"nice":    {valued: []string{"-n", "--adjustment"}},
	"nohup":   {},
	"time":    {alone: []string{"-p", "-v", "-l"}},
	"env":     {valued: []string{"-u", "--unset"}, alone: []string{"-i", "--ignore-environment", "-"}, variables: true},
	"stdbuf":  {valued: []string{"-i", "-o", "-e"}, alone: []string{"-oL", "-eL", "-o0", "-e0"}},
}

// Unwrap returns the command that a simple wrapper (timeout, nice, nohup, time,
// env, stdbuf) runs, where every word in front of it is understood. ok is false
// for anything else.
func Unwrap(words []shell.Word) (inner []shell.Word, ok bool) {
	if len(words) < 2 {
		return nil, false
	}
	w, ok := wrappers[programName(words[0])]
	if !ok || !words[0].Known || words[0].Glob || words[0].Tilde {
		return nil, false
	}
	operand := w.operand
	for i := 1; i < len(words); i++ {
		word := words[i]
		if !word.Known || word.Glob {
			return nil, false
		}
		name, _, hasValue := strings.Cut(word.Text, "=")
		switch {
		case strings.HasPrefix(word.Text, "-"):
			switch {
			case contains(w.alone, word.Text), hasValue && contains(w.valued, name) && strings.HasPrefix(name, "--"):
			case contains(w.valued, word.Text) && i+1 < len(words) && words[i+1].Known && !words[i+1].Glob:
				i++
			default:
				return nil, false
			}
		case w.variables && hasValue:
			if !isName(name) || Steering(name) || len(name) == 3 && strings.HasPrefix(name, "PS") || name == "PROMPT_COMMAND" {
				return nil, false
			}
		case operand != nil:
			if !operand.MatchString(word.Text) {
				return nil, false
			}
			operand = nil
		case word.Text == "":
			return nil, false
		default:
			return words[i:], true
		}
	}
	return nil, false
}

func contains(list []string, text string) bool {
	for _, s := range list {
		if s == text {
			return true
		}
	}
	return false
}

// RunsInstalled returns the command that a runner of installed programs runs
// (npx, uv run, pnpm exec), where every word in front of it is understood. The
// program may be the project's own, and isn't what the table says of its name;
// what restricts that name holds for it all the same.
func RunsInstalled(words []shell.Word) (inner []shell.Word, ok bool) {
	if len(words) < 2 || !words[0].Known || words[0].Glob {
		return nil, false
	}
	if installed(words[0]) {
		words = append([]shell.Word{{Text: baseName(words[0]), Known: true, Start: words[0].Start, End: words[0].End}}, words[1:]...)
	}
	u := read(words)
	if u.node == nil || !u.node.follows || len(u.node.subs) > 0 && !u.noSub || u.unread || u.unsure || len(u.operands) == 0 {
		return nil, false
	}
	first := u.operands[0]
	return u.operands, first.Known && !first.Glob && first.Text != ""
}
