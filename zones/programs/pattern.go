package programs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// Pattern is a command pattern of a policy: a program word, operands that must
// come first and in order, and options that must be there. The zero value
// matches nothing. It is immutable, and safe for concurrent use.
type Pattern struct {
	text     string
	words    []shell.Word // as a command: for its own reading by the table
	operands []shell.Word // the program and the other words without a dash
	flags    []flag
	literals int
}

// ErrPattern is returned, wrapped, when a pattern can't be used.
var ErrPattern = errors.New("not a command pattern")

// ParsePattern reads a pattern. Its words are split and quoted as a shell
// would; an unquoted * stands for any one word. Errors wrap [ErrPattern].
func ParsePattern(text string) (Pattern, error) {
	fail := func(format string, args ...any) (Pattern, error) {
		return Pattern{}, fmt.Errorf("%w: %q: %s", ErrPattern, text, fmt.Sprintf(format, args...))
	}
	// Behind a program word, the first word of the pattern may be * as well.
	const before = "pattern "
	r := shell.Read(before + text)
	switch {
	case len(r.Opaque) > 0:
		return fail("%s", r.Opaque[0].Reason)
	case len(r.Commands) != 1:
		return fail("it must be one command, without ; & | or substitutions")
	case strings.TrimSpace((before + text)[r.Commands[0].End:]) != "":
		return fail("it has more than one command's words")
	case len(r.Commands[0].Redirects) > 0:
		return fail("it must have no redirections")
	}
	words := r.Commands[0].Words[1:]
	if len(words) == 0 {
		return fail("it needs at least a program")
	}
	p := Pattern{text: text, words: words}
	for i, w := range words {
		switch {
		case !w.Known:
			return fail("%q is an expansion; quote it if it is meant literally", w.Text)
		case w.Glob && w.Text != "*":
			return fail("%q is neither a literal word nor a * of its own", w.Text)
		case i > 0 && w.Start == words[i-1].Start:
			return fail("brace expansion is not done in patterns")
		case w.Text == "":
			return fail("it has an empty word")
		}
		if !isStar(w) && w.Text != "--" {
			p.literals++
		}
	}
	if isOption(words[0]) {
		return fail("it begins with the option %s instead of a program", words[0].Text)
	}
	if strings.Contains(words[0].Text, "=") && !isStar(words[0]) {
		return fail("it begins with an assignment")
	}
	u := read(words)
	p.flags = slices.DeleteFunc(u.flags, func(f flag) bool { return f.letter })
	p.operands = append(slices.Clone(u.names), u.operands...)
	return p, nil
}

// String returns the pattern as it was written.
func (p Pattern) String() string { return p.text }

// Literals returns the number of words that aren't *: of several patterns that
// match, the one with the most speaks.
func (p Pattern) Literals() int { return p.literals }

// MatchesAny says whether some reading of the command made of words fits: for
// patterns that restrict. An option that isn't in the table may or may not
// take the next word, and a word that isn't known may be whatever the pattern
// needs, provided that the program is known.
func (p Pattern) MatchesAny(words []shell.Word) bool { return p.matches(words, possibly) }

// MatchesPlainly is MatchesAny without the help of words that aren't known: the
// command shows what the pattern says. Where only MatchesAny is true, the
// match is a possibility, which deserves a question rather than a block.
func (p Pattern) MatchesPlainly(words []shell.Word) bool { return p.matches(words, plainly) }

// MatchesSurely says whether every reading of the command made of words fits:
// for patterns that allow. All words that the pattern needs must be known, and
// no option before a subcommand may steer what it does (`git -c …`), unless
// the pattern names that option.
func (p Pattern) MatchesSurely(words []shell.Word) bool { return p.matches(words, surely) }

func isStar(w shell.Word) bool { return w.Known && w.Glob && w.Text == "*" }

// mode is how much a match may assume.
type mode int

const (
	possibly mode = iota
	plainly
	surely
)

func (p Pattern) matches(words []shell.Word, m mode) bool {
	if len(p.operands) == 0 || len(words) == 0 {
		return false
	}
	first := words[0]
	if !first.Known || first.Glob {
		return false
	}
	if _, ok := gitByPath(first); ok && m == surely {
		return false
	}
	words = anywhere(words)
	name := p.program(words[0], m)
	if name == "" {
		return false
	}
	if m != surely {
		words = slices.Clone(words)
		words[0] = shell.Word{Text: name, Known: true, Start: first.Start, End: first.End}
	}
	u := read(words)
	o := matcher{mode: m, words: words, want: p.operands[1:]}
	var n *node
	if !words[0].Tilde {
		n = known()[programName(words[0])]
	}
	return o.from(1, 0, n, false) && p.flagsFit(&u, words, m)
}

// program returns the name of the program of a command if it is the pattern's,
// else "". What restricts looks only at the last part of a path; what allows
// has to know the folder.
func (p Pattern) program(first shell.Word, m mode) string {
	want := p.operands[0]
	name := programName(first)
	base := name
	if hasFolder(first) {
		base = baseName(first)
	}
	switch {
	case m == surely:
		if !isStar(want) && (first.Tilde != want.Tilde || name != programName(want)) {
			return ""
		}
		return name
	case isStar(want):
	case !hasFolder(want) || programName(want) != want.Text:
		if base != programName(want) {
			return ""
		}
	case !hasFolder(first) || base != baseName(want):
		return "" // ./x is no x that is installed
	}
	return base
}

// flagsFit says whether the options of the pattern are among those of the
// command.
func (p Pattern) flagsFit(u *usage, words []shell.Word, m mode) bool {
	if m == surely && !p.sureGlobals(u) {
		return false
	}
	for _, want := range p.flags {
		if slices.ContainsFunc(u.flags, func(f flag) bool { return want.fits(f, u, words, m) }) {
			continue
		}
		// The letters of -rf, where the program's options aren't known.
		if len(want.options) == 0 && u.lettersFit(want, words, m) {
			continue
		}
		if m == possibly && u.hides() {
			continue
		}
		return false
	}
	return true
}

// hides says whether some word may become an option that isn't seen.
func (u *usage) hides() bool {
	return slices.ContainsFunc(u.operands, mayBeOption) || slices.ContainsFunc(u.flags, func(f flag) bool {
		return f.value != nil && many(*f.value)
	})
}

// fits says whether an option of a pattern is the option f of a command.
func (want flag) fits(f flag, u *usage, words []shell.Word, m mode) bool {
	if m == surely {
		if !f.exact || len(f.options) > 1 || u.maybeValue(f, words) || u.negated(want) {
			return false
		}
	}
	same := f.text == want.text
	for _, o := range f.options {
		same = same || slices.Contains(o.spellings, want.text)
	}
	for _, o := range want.options {
		same = same || want.exact && slices.Contains(o.spellings, f.text)
	}
	if !same {
		return false
	}
	if want.value == nil || isStar(*want.value) {
		return true
	}
	if f.value == nil {
		// The value of an option that isn't listed may be the next word.
		return m == possibly && len(f.options) == 0
	}
	if !f.value.Known || f.value.Glob {
		return m == possibly
	}
	return f.value.Text == want.value.Text
}

// lettersFit says whether all letters of a short cluster in a pattern are
// there, together or apart.
func (u *usage) lettersFit(want flag, words []shell.Word, m mode) bool {
	if u.node != nil || strings.HasPrefix(want.text, "--") || len(want.text) < 3 || want.value != nil {
		return false
	}
	for _, letter := range want.text[1:] {
		one := flag{text: "-" + string(letter)}
		if !slices.ContainsFunc(u.flags, func(f flag) bool { return one.fits(f, u, words, m) }) {
			return false
		}
	}
	return true
}

// maybeValue says whether an option may really be the value of one before it.
func (u *usage) maybeValue(f flag, words []shell.Word) bool {
	if f.index < 2 {
		return false
	}
	before := words[f.index-1]
	if mayBeOption(before) {
		return true
	}
	if !isOption(before) || strings.Contains(before.Text, "=") {
		return false
	}
	for _, b := range u.flags {
		if b.index == f.index-1 && (len(b.options) == 0 || !b.exact) {
			return true
		}
	}
	return false
}

// negated says whether a --no-… form may take an option back.
func (u *usage) negated(want flag) bool {
	names := []string{want.text}
	for _, o := range want.options {
		names = append(names, o.spellings...)
	}
	return slices.ContainsFunc(u.flags, func(f flag) bool {
		name, ok := strings.CutPrefix(f.text, "--no-")
		return ok && slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "--"+name) })
	})
}

// sureGlobals says whether every option before the subcommand is harmless, or
// named by the pattern.
func (p Pattern) sureGlobals(u *usage) bool {
	return !slices.ContainsFunc(u.flags, func(f flag) bool {
		if !f.global {
			return false
		}
		if slices.ContainsFunc(p.flags, func(want flag) bool { return want.text == f.text }) {
			return false
		}
		return len(f.options) != 1 || !f.exact || f.options[0].unsafe || f.options[0].launches
	})
}
