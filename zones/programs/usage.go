package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// usage is how the words of a command fall into options and operands.
type usage struct {
	node     *node        // the program, or the subcommand that was reached; nil: unknown
	names    []shell.Word // the program and its subcommands
	flags    []flag
	operands []shell.Word
	noSub    bool // the program has subcommands, and this is none of them
	unread   bool // an option isn't in the table, or is abbreviated
	unsure   bool // a word that isn't known may be an option
}

// flag is an option as it was given.
type flag struct {
	options []*option // what it may be: several for an abbreviation, none if not listed
	exact   bool
	text    string // as spelled, -f for each letter of a cluster
	value   *shell.Word
	global  bool // stands before a subcommand
	letter  bool // of what may be a cluster, of a program that isn't known
	index   int  // of its word
}

// systemFolders are where a program is the one of that name.
var systemFolders = []string{
	"/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin",
}

// programName returns the name under which the table has the program of a
// word. A path elsewhere isn't that program, and stays as it is.
func programName(w shell.Word) string {
	if !w.Known || w.Glob || w.Tilde {
		return w.Text
	}
	if !hasFolder(w) {
		return w.Text
	}
	folder, name := path.Split(path.Clean(w.Text))
	if slices.Contains(systemFolders, strings.TrimSuffix(folder, "/")) {
		return name
	}
	return w.Text
}

// read splits the words of a command by the table.
func read(words []shell.Word) usage {
	var u usage
	if len(words) == 0 {
		return u
	}
	first := words[0]
	u.names = []shell.Word{first}
	if first.Known && !first.Glob && !first.Tilde {
		u.node = known()[programName(first)]
	}
	u.options(words)
	return u
}

// options reads all the words after the program.
func (u *usage) options(words []shell.Word) {
	ended := false
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case !ended && w.Known && w.Text == "--":
			ended = true
		case !ended && mayBeOption(w):
			u.unsure = true
			u.operands = append(u.operands, w)
			// `command $x -v`: what follows may be what x is given.
			ended = u.node != nil && u.node.style == styleLeading
		case !ended && isOption(w):
			i += u.option(words, i)
			if u.node != nil && len(u.flags) > 0 {
				last := u.flags[len(u.flags)-1]
				ended = len(last.options) > 0 && last.options[0].last
			}
		default:
			if u.subcommand(w) {
				continue
			}
			u.operands = append(u.operands, w)
			ended = ended || u.node != nil && (u.node.style == styleLeading || u.noSub && u.node.follows)
		}
	}
}

// subcommand follows an operand that names a subcommand.
func (u *usage) subcommand(w shell.Word) bool {
	if u.node == nil || len(u.node.subs) == 0 || u.noSub {
		return false
	}
	sub := u.node.subs[w.Text]
	if sub == nil || !w.Known || w.Glob || len(u.operands) > 0 {
		u.noSub = true
		return false
	}
	u.node = sub
	u.names = append(u.names, w)
	for i := range u.flags {
		u.flags[i].global = true
	}
	return true
}

func isOption(w shell.Word) bool {
	return w.Known && len(w.Text) > 1 && w.Text[0] == '-' && !w.Tilde
}

// mayBeOption says whether a word that isn't certain could become an option.
func mayBeOption(w shell.Word) bool {
	switch {
	case w.Known && w.Glob:
		return strings.IndexByte("*?[", w.Text[0]) >= 0
	case w.Known:
		return false
	default:
		return !w.Single || w.Prefix == "" || w.Prefix[0] == '-'
	}
}

// option reads the option at index i and returns how many words after it are
// its value.
func (u *usage) option(words []shell.Word, i int) int {
	text := words[i].Text
	if u.node == nil {
		u.plain(text, i)
		return 0
	}
	if strings.HasPrefix(text, "--") || u.node.style == styleSingle {
		return u.long(words, i)
	}
	if isDigits(text[1:]) && u.node.lookup("-NUMBER") != nil {
		u.add(flag{options: []*option{u.node.lookup("-NUMBER")}, exact: true, text: "-NUMBER", index: i})
		return 0
	}
	for at := 1; at < len(text); at++ {
		o := u.node.lookup("-" + text[at:at+1])
		f := flag{text: "-" + text[at:at+1], exact: true, index: i}
		if o == nil {
			u.add(f)
			continue
		}
		f.options = []*option{o}
		if o.value {
			if rest := text[at+1:]; rest != "" || o.attached {
				if rest != "" {
					f.value = part(words[i], rest)
				}
				u.add(f)
				return 0
			}
			return u.valueOf(f, words, i)
		}
		u.add(f)
	}
	return 0
}

// long reads a word that is one option.
func (u *usage) long(words []shell.Word, i int) int {
	text := words[i].Text
	name, value, hasValue := strings.Cut(text, "=")
	f := flag{text: name, index: i}
	if o := u.node.lookup(name); o != nil {
		f.options, f.exact = []*option{o}, true
	} else if u.node.style == styleSingle {
		if o := u.node.lookup(strings.TrimPrefix(name, "-")); o != nil {
			f.options, f.exact = []*option{o}, true
		}
	} else {
		f.options = u.node.abbreviated(name)
	}
	if hasValue {
		f.value = part(words[i], value)
		u.add(f)
		return 0
	}
	if len(f.options) > 0 && f.options[0].value && !f.options[0].attached {
		return u.valueOf(f, words, i)
	}
	u.add(f)
	return 0
}

// valueOf adds an option whose value is the next word, if there is one.
func (u *usage) valueOf(f flag, words []shell.Word, i int) int {
	if i+1 == len(words) {
		u.add(f)
		return 0
	}
	next := words[i+1]
	f.value = &next
	if !next.Known && !next.Single || next.Known && next.Glob {
		// It may be several words, the second of which is an option.
		u.unsure = true
	}
	u.add(f)
	return 1
}

func (u *usage) add(f flag) {
	if len(f.options) == 0 && !u.node.harmless || len(f.options) > 0 && !f.exact {
		u.unread = true
	}
	u.flags = append(u.flags, f)
}

// plain adds an option of a program that isn't known: as spelled, and as the
// cluster of short ones that it may be.
func (u *usage) plain(text string, i int) {
	u.unread = true
	name, value, hasValue := strings.Cut(text, "=")
	f := flag{text: name, exact: true, index: i}
	if hasValue {
		f.value = &shell.Word{Text: value, Known: true}
	}
	u.flags = append(u.flags, f)
	if !strings.HasPrefix(text, "--") && len(name) > 2 {
		for _, letter := range name[1:] {
			u.flags = append(u.flags, flag{text: "-" + string(letter), letter: true, index: i})
		}
	}
}

// lookup finds an option by its exact spelling, among those of the programs
// above, too, where they hold for subcommands.
func (n *node) lookup(spelling string) *option {
	if o := n.options[spelling]; o != nil {
		return o
	}
	if n.parent != nil && n.parent.sticky {
		return n.parent.lookup(spelling)
	}
	return nil
}

// abbreviated finds the long options that begin so.
func (n *node) abbreviated(name string) []*option {
	var out []*option
	if len(name) < 3 {
		return nil
	}
	for spelling, o := range n.options {
		if strings.HasPrefix(spelling, name) && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *option) int { return strings.Compare(a.spellings[0], b.spellings[0]) })
	return out
}

// part is the end of a word.
func part(w shell.Word, text string) *shell.Word {
	w.Text = text
	w.Tilde = w.ValueTilde
	w.ValueTilde = false
	return &w
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
