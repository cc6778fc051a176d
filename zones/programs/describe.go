package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// Description is what is known of one command. The zero value is a program of
// which nothing is known.
type Description struct {
	// Name is the program: its base name where it comes from a folder of system
	// programs, the word itself where it is a path elsewhere.
	Name string
	// Known says that the table has the program, and the subcommand, and that
	// every option could be read.
	Known bool
	// Safe says that the command, with these very options, only reads.
	Safe bool
	// Opaque says, if not empty, that it runs something that can't be known
	// from here, and why.
	Opaque string
	// Script says that Opaque is not empty only because a file is run (`python
	// x.py`, `npx x`), and no code that can't be seen: a program like any other
	// to those who judge the file.
	Script bool
	// Steers says, if not empty, that a setting among the options makes the
	// program run something else, and why (`git -c core.pager=…`).
	Steers string
	// Files has what happens to which operands and values of options.
	Files []File
	// Dirs has the directories to which options send the program, one after
	// the other, as in `git -C a`: it runs there as well.
	Dirs []shell.Word
}

// File is a file that a command uses.
type File struct {
	Word      shell.Word // may be not Known: it comes from elsewhere
	Access    shell.Access
	Recursive bool // with everything below it
	// Possible says of a word that is plainly a path that nothing is known of
	// what happens to it.
	Possible bool
	// Name says the same of a word that may as well be anything else: it only
	// matters where it names what is protected.
	Name bool
}

// Describe tells what the table knows of the command made of words, the
// program first. No words at all, where a shell only opens files, are known
// and safe.
func Describe(words []shell.Word) Description {
	if len(words) == 0 {
		return Description{Known: true, Safe: true}
	}
	if name, ok := gitByPath(words[0]); ok {
		d := Describe(append([]shell.Word{{Text: "git", Known: true}, name}, words[1:]...))
		d.Known, d.Safe = false, false
		if d.Opaque == "" {
			d.Opaque = "it is git by another name, which this version does not follow"
		}
		return d
	}
	words = withoutToolchain(words)
	u := read(words)
	d := Description{Name: programName(words[0])}
	if u.node == nil {
		d.Files = looseFiles(words[1:], true)
		d.Files = append(d.Files, namedProgram(words[0])...)
		if installed(words[0]) {
			// A launcher that isn't where the system has it still launches.
			other := slices.Clone(words)
			other[0] = shell.Word{Text: baseName(words[0]), Known: true}
			if known()[other[0].Text] != nil {
				o := Describe(other)
				d.Opaque, d.Script, d.Steers, d.Dirs = o.Opaque, o.Script, o.Steers, o.Dirs
				d.Files = append(d.Files, o.Files...)
			}
		}
		return d
	}
	d.Known = !u.noSub && !u.unread && (!u.unsure || !u.node.risky())
	d.Files = u.files(words)
	for _, f := range u.flags {
		for _, o := range f.options {
			switch {
			case f.value == nil:
			case o.role.dir:
				d.Dirs = append(d.Dirs, *f.value)
			case o.role.parent && f.value.Known:
				folder := *f.value
				folder.Text = path.Dir(folder.Text)
				d.Dirs = append(d.Dirs, folder)
			case o.role.parent:
				d.Dirs = append(d.Dirs, *f.value)
			}
		}
	}
	d.Opaque = u.opaque(words, &d)
	d.Script = d.Script && !slices.ContainsFunc(u.flags, func(f flag) bool {
		return slices.ContainsFunc(f.options, func(o *option) bool { return o.launches })
	})
	d.Safe = d.Known && d.Opaque == "" && u.safe(d.Files)
	return d
}

// opaque says what the command runs that isn't followed.
func (u *usage) opaque(words []shell.Word, d *Description) string {
	name := d.Name
	for n := u.node; n != nil; n = n.parent {
		launches := n.launches != "" && (n.code == nil || u.codeRuns(n.code))
		if n.check != nil {
			launches = n.check(u, words, d)
		}
		if !launches {
			continue
		}
		spared := slices.ContainsFunc(u.flags, func(f flag) bool {
			return f.exact && len(f.options) == 1 && slices.ContainsFunc(n.unless, func(s string) bool {
				return slices.Contains(f.options[0].spellings, s)
			})
		})
		if !spared {
			what := n.launches
			if what == "" {
				what = "may run another command"
			}
			return name + " " + what + ", which this version does not follow"
		}
	}
	for _, f := range u.flags {
		for _, o := range f.options {
			if o.launches {
				return name + " " + f.text + " runs another command, which this version does not follow"
			}
		}
	}
	return ""
}

// safe says whether a command whose every option was read only reads.
func (u *usage) safe(files []File) bool {
	n := u.node
	operands := u.meaningful()
	if !n.safe || n.most >= 0 && len(operands) > n.most {
		return false
	}
	for _, f := range u.flags {
		for _, o := range f.options {
			if o.unsafe || o.launches || o.writes {
				return false
			}
		}
	}
	if n.most >= 0 || n.operands.changes() {
		// What an operand is depends on how many there are.
		if slices.ContainsFunc(operands, many) {
			return false
		}
	}
	return !slices.ContainsFunc(files, func(f File) bool {
		return f.Access != shell.AccessRead && f.Access != shell.AccessList
	})
}

// many says whether a word may become several.
func many(w shell.Word) bool { return w.Glob || !w.Known && !w.Single }

// files says what happens to the operands and the values of options.
func (u *usage) files(words []shell.Word) []File {
	n := u.node
	loose := looseFiles(u.loose(words), false)
	if u.noSub {
		return append(loose, looseFiles(u.operands, true)...)
	}
	out := loose
	recursive, target, first, writes, deletes := n.recursive, false, false, false, false
	for _, f := range u.flags {
		for _, o := range f.options {
			recursive = recursive || o.recursive
			target = target || o.target
			first = first || o.first
			writes = writes || o.writes
			deletes = deletes || o.deletes
			if o.role.form != "" && f.value != nil {
				out = append(out, formed(*f.value, o.role.form)...)
			}
			if o.role.file && f.value != nil && !isStandard(*f.value) {
				out = append(out, File{Word: *f.value, Access: o.role.access})
			}
		}
	}
	operands := u.meaningful()
	if n.operands == nil {
		// Nobody said what they are.
		if len(n.keys) > 0 {
			return append(out, u.keyFiles()...)
		}
		for _, f := range looseFiles(operands, true) {
			f.Possible = f.Possible && !n.safe
			out = append(out, f)
		}
		return out
	}
	roles := *n.operands
	if first && len(roles.before) > 0 {
		roles.before = roles.before[1:]
	}
	if target {
		roles.after = nil
	}
	none := true
	for i, w := range operands {
		if w.ValueTilde {
			w.Known = false // NAME=~ is no home for a whole word
		}
		for _, r := range roles.of(i, operands) {
			none = none && !r.file
			if writes && r.access == shell.AccessRead {
				r.access = shell.AccessWrite
			}
			if deletes && r.access == shell.AccessList {
				r.access = shell.AccessDelete
			}
			if r.loose {
				out = append(out, looseFiles([]shell.Word{w}, false)...)
			}
			if r.form != "" {
				out = append(out, formed(w, r.form)...)
			}
			if r.file && !isStandard(w) {
				out = append(out, File{Word: w, Access: r.access, Recursive: recursive})
			}
		}
	}
	if none && n.implied != nil && (recursive || *n.implied == shell.AccessList) {
		access := *n.implied
		if deletes {
			access = shell.AccessDelete
		}
		out = append(out, File{Word: shell.Word{Text: ".", Known: true}, Access: access, Recursive: recursive})
	}
	if len(operands) == 1 && len(roles.after) == 1 && roles.after[0].file {
		// `ln ../x` makes ./x.
		out = append(out, File{Word: shell.Word{Text: ".", Known: true}, Access: roles.after[0].access})
	}
	return out
}

// meaningful returns the operands without those that the table ignores.
func (u *usage) meaningful() []shell.Word {
	n := u.node
	return slices.DeleteFunc(slices.Clone(u.operands), func(w shell.Word) bool {
		return w.Known && (n.ignore[w.Text] || n.ignorePrefix != "" && strings.HasPrefix(w.Text, n.ignorePrefix))
	})
}

// of returns the roles that an operand may have: a word that may become
// several, or stands near one, may have more than its own.
func (o *operands) of(i int, all []shell.Word) []role {
	own := o.at(i, len(all))
	if !slices.ContainsFunc(all, many) {
		return []role{own}
	}
	roles := []role{own}
	if many(all[i]) {
		roles = append(roles, o.before...)
		if i == len(all)-1 {
			roles = append(roles, o.after...)
		}
	}
	if o.repeated != nil && i >= len(o.before) && (many(all[i]) || slices.ContainsFunc(all[:min(i, len(o.before))], many)) {
		roles = append(roles, *o.repeated)
	}
	var out []role
	for _, r := range roles {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// keyFiles reads operands of the form key=value.
func (u *usage) keyFiles() []File {
	var out []File
	for _, w := range u.operands {
		if !w.Known {
			key, _, _ := strings.Cut(w.Prefix, "=")
			if r, listed := u.node.keys[key]; !listed || r.file {
				access := r.access
				if !listed {
					access = shell.AccessWrite
				}
				out = append(out, File{Word: w, Access: access})
			}
			continue
		}
		key, value, ok := strings.Cut(w.Text, "=")
		if r := u.node.keys[key]; ok && r.file {
			out = append(out, File{Word: *part(w, value), Access: r.access})
		}
	}
	return out
}

// isStandard says whether an operand is the standard input or output, or a
// process substitution: a pipe, and no file.
func isStandard(w shell.Word) bool {
	if w.Known {
		return w.Text == "-"
	}
	pipe := strings.HasPrefix(w.Text, "<(") || strings.HasPrefix(w.Text, ">(")
	return pipe && w.Prefix == "/" && w.Single && strings.HasSuffix(w.Text, ")")
}

func looksLikePath(w shell.Word, text string) bool {
	if w.Tilde || text == ".." {
		return true
	}
	if strings.Contains(text, "://") {
		return strings.HasPrefix(text, "file:")
	}
	if host, _, ok := strings.Cut(text, ":"); ok && strings.Contains(host, "@") && !strings.Contains(host, "/") {
		return false // git@host:path
	}
	return strings.Contains(text, "/") || len(text) > 1 && text[0] == '.' && text[1] != '.'
}

// formed finds the file in a value that may have one.
func formed(w shell.Word, form string) []File {
	text := w.Text
	if !w.Known {
		text = w.Prefix
	}
	switch form {
	case "at":
		file, ok := strings.CutPrefix(text, "@")
		if !ok {
			return nil
		}
		text = file
	case "nameat":
		name, file, ok := strings.Cut(text, "@")
		if !ok || strings.Contains(name, "=") {
			return nil
		}
		text = file
	case "form":
		_, value, ok := strings.Cut(text, "=")
		if !ok || value == "" || value[0] != '@' && value[0] != '<' {
			return nil
		}
		text, _, _ = strings.Cut(value[1:], ";")
	default:
		if !strings.HasPrefix(strings.ToLower(text), "file:") {
			return nil
		}
	}
	if text == "-" {
		return nil
	}
	if w.Known {
		w = *part(w, text)
	}
	return []File{{Word: w, Access: shell.AccessRead}}
}
