package programs

import (
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// looseFiles tells what files words may be that have no role: those that can
// hardly be anything but paths may be used, and all others may be names.
// guessing says that nothing is known of the program, so that a word that only
// begins like a path counts, too.
func looseFiles(words []shell.Word, guessing bool) []File {
	var out []File
	for _, w := range words {
		if !w.Known {
			if guessing {
				out = append(out, unknownPath(w)...)
			}
			continue
		}
		seen := map[string]bool{}
		for _, c := range candidates(w) {
			if seen[c.Text] || isStandard(c) {
				continue
			}
			seen[c.Text] = true
			key, _, sets := strings.Cut(c.Text, "=")
			switch {
			case !(sets && isName(key)) && looksLikePath(c, c.Text):
				out = append(out, File{Word: c, Access: shell.AccessRead, Possible: true})
			case c.Text != "" && !strings.Contains(c.Text, "://") && !isDigits(c.Text):
				out = append(out, File{Word: c, Access: shell.AccessRead, Name: true})
			}
		}
	}
	return out
}

// unknownPath is a word of which only the beginning is known, and that of a path.
func unknownPath(w shell.Word) []File {
	text := w.Prefix
	if strings.HasPrefix(text, "-") {
		_, value, ok := strings.Cut(text, "=")
		if !ok {
			return nil
		}
		text = value
	}
	if !looksLikePath(w, text) || isStandard(w) {
		return nil
	}
	return []File{{Word: w, Access: shell.AccessRead, Possible: true}}
}

// candidates are the parts of a word that may be the name of a file: of an
// option what follows its letter, or its letters, and what follows = and @.
func candidates(w shell.Word) []shell.Word {
	text := w.Text
	var out []shell.Word
	value := func(v string) {
		out = append(out, *part(w, strings.TrimPrefix(v, "@")))
	}
	switch {
	case w.Tilde:
		return []shell.Word{w}
	case strings.HasPrefix(text, "--"):
	case strings.HasPrefix(text, "-"):
		if len(text) > 2 {
			value(text[2:])
			if i := strings.IndexAny(text, "/.~"); i > 2 {
				value(text[i:])
			}
		}
	default:
		if file, ok := strings.CutPrefix(text, "@"); ok {
			value(file)
		} else {
			out = append(out, w)
		}
	}
	for _, field := range strings.Split(text, ",") {
		if _, v, ok := strings.Cut(field, "="); ok {
			value(v)
		}
	}
	if _, v, ok := strings.Cut(text, "="); ok && !strings.Contains(v, ",") {
		value(v)
	}
	return out
}

// loose finds the words and the parts of options that have no role.
func (u *usage) loose(words []shell.Word) []shell.Word {
	var out []shell.Word
	for _, f := range u.flags {
		if len(f.options) == 0 && u.node.harmless && u.node.safe {
			continue // listed or not, it changes nothing
		}
		w := words[f.index]
		switch {
		case len(f.options) == 0 && strings.HasPrefix(w.Text, "--"), u.node.style == styleSingle && len(f.options) == 0:
			out = append(out, w)
		case len(f.options) == 0:
			if _, rest, ok := strings.Cut(w.Text, f.text[1:]); ok && rest != "" {
				out = append(out, *part(w, "-"+f.text[1:]+rest))
			}
		case f.value != nil && !f.options[0].value, f.value != nil && f.options[0].role.loose:
			out = append(out, *f.value)
		}
	}
	return out
}

// isName says whether text could name a variable or a parameter.
func isName(text string) bool {
	return text != "" && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz_0123456789") == ""
}
