package zones

import (
	"path"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/guardrails-provider/guardrails-provider/zones/programs"
	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// subject says in a reason which command does something to a file; the zero
// value is the caller itself.
type subject struct{ command string }

func (s subject) text() string {
	if s.command == "" {
		return ""
	}
	return " by `" + s.command + "`"
}

// operation returns the operation on files that an access is.
func operation(a shell.Access) int {
	switch a {
	case shell.AccessRead:
		return opIndex(protocol.OpRead)
	case shell.AccessDelete:
		return opIndex(protocol.OpDelete)
	case shell.AccessList:
		return opIndex(protocol.OpList)
	}
	return opIndex(protocol.OpWrite)
}

// judgeCommandFile judges what a command does to one file. certain says that the
// operation is known; else the word is only plainly a path.
func (j *judgement) judgeCommandFile(target int, c *command, at *surroundings, f programs.File, certain bool) {
	op := operation(f.Access)
	by := subject{show(c.text)}
	if !f.Word.Known {
		if f.Access != shell.AccessList {
			j.opaque(target, c.text, "the file "+f.Word.Text+" that it "+verbs[op]+" can't be known from the text")
		}
		return
	}
	text := wordPath(f.Word)
	p, problem := at.readPath(text)
	if problem != "" {
		if !f.Name { // what may be any text need not be a path
			j.opaque(target, c.text, show(f.Word.Text)+" "+problem)
		}
		return
	}
	if harmlessDevice(p) {
		return
	}
	if f.Name && !j.named(at, text, p) && !f.Word.Glob {
		return
	}
	below := f.Recursive || f.Access == shell.AccessDelete // what is moved away goes with all that is in it
	if f.Word.Glob {
		j.judgeGlob(target, c, at, text, p, op, below)
	}
	if !certain {
		if !f.Name || j.named(at, text, p) {
			j.judgePossible(target, at, text, p, by, c.Safe)
		}
		return
	}
	j.judgePlace(target, at, text, p, op, below, by)
}

// named says whether a word that may be any text is the name of something
// protected.
func (j *judgement) named(at *surroundings, text string, p place) bool {
	if len(j.set.protectors(p, &j.around, j.buffer[:0])) > 0 {
		return true
	}
	if j.set.resolve == nil {
		return false
	}
	real, err := j.set.resolve(at.raw(text)) // of most texts there is no file
	return err == nil && len(j.set.protectors(real, &j.around, j.buffer[:0])) > 0
}

// judgeInto judges the names that files get which are copied or moved into a
// folder, against protected zones: the folder itself is judged as what is
// written, and whether it is one can't be seen.
func (j *judgement) judgeInto(target int, c *command, at *surroundings) {
	write := opIndex(protocol.OpWrite)
	plain := func(f programs.File) bool { return f.Word.Known && !f.Word.Glob && !f.Name }
	for _, to := range c.Files {
		if operation(to.Access) != write || !plain(to) {
			continue
		}
		for _, from := range c.Files {
			if a := from.Access; a != shell.AccessRead && a != shell.AccessDelete || !plain(from) {
				continue
			}
			name := path.Base(from.Word.Text)
			if name == "." || name == ".." || name == "/" {
				continue
			}
			p, problem := at.readPath(wordPath(to.Word) + "/" + name)
			if problem != "" {
				continue // said of the folder
			}
			for _, z := range j.set.protectors(p, &j.around, j.buffer[:0]) {
				if v := z.files[write]; v != "" && v != protocol.VerdictAllow {
					j.addFile(target, z, p, write, subject{show(c.text)})
				}
			}
		}
	}
}

// judgeGlob judges a pattern against what it could match among the protected.
// Whatever else it fits lies where its literal folder is.
func (j *judgement) judgeGlob(target int, c *command, at *surroundings, text string, p place, op int, below bool) {
	pattern := *at // what is literal in the folder is not a part of the pattern
	pattern.cwd, pattern.home = place(escape(string(at.cwd))), place(escape(string(at.home)))
	shape, _ := pattern.readPath(text)
	zones, ok := j.reachable(string(shape), below, c.globbing)
	if !ok {
		j.opaque(target, c.text, "it has too many patterns to compare with what is protected")
		return
	}
	for _, z := range zones {
		if v := z.files[op]; v != "" && v != protocol.VerdictAllow {
			j.addFile(target, z, p, op, subject{show(c.text)})
		}
	}
	if j.set.resolve == nil {
		return
	}
	real, ok := linksAmong(string(shape), j.set.resolve)
	if !ok {
		j.opaque(target, c.text, "where the links lead that "+show(text)+" fits can't be known")
	}
	for _, name := range real {
		j.judgeSpelling(target, name, op, subject{show(c.text)})
	}
}

// verbs continues a sentence about a command; the index is that of fileOps.
var verbs = [len(fileOps)]string{"reads", "writes", "deletes", "lists", "looks at"}

// wordPath returns the text of a word in the form in which paths are read: a
// leading ~ that the shell does not expand is a name.
func wordPath(w shell.Word) string {
	if strings.HasPrefix(w.Text, "~") && !w.Tilde {
		return "./" + w.Text
	}
	return w.Text
}

// judgePossible judges a word that is plainly a path, of a command that nothing
// is known of: a read for protected zones, and outside every writable zone at
// most an ask.
func (j *judgement) judgePossible(target int, at *surroundings, text string, p place, by subject, safe bool) {
	read, write := opIndex(protocol.OpRead), opIndex(protocol.OpWrite)
	for _, name := range j.spellings(target, at, text, p) {
		zones, protected := j.set.speaking(name, &j.around, j.buffer[:0])
		if protected {
			for _, z := range zones {
				if v := z.files[read]; v != "" && v != protocol.VerdictAllow {
					j.addFile(target, z, name, read, by)
				}
			}
		}
		if safe { // it only reads, and this may be no file at all
			continue
		}
		switch z := strictest(zones, write); {
		case z == nil && j.set.zones > 0:
			j.leave(target, name, write, by)
		case z != nil && z.files[write] != protocol.VerdictAllow:
			j.add(z.order, target, z.ID, protocol.VerdictAsk,
				"`"+by.command+"` may change "+show(name.String())+", which zone "+z.ID+" does not allow"+z.because())
		}
	}
}

// network says whether bash opens a connection where this is redirected to.
func network(p place) bool {
	return p.within("/dev/tcp") || p.within("/dev/udp")
}

// harmlessDevice knows the files that are no files: what is written there goes
// nowhere or to the terminal, what is read holds nothing.
func harmlessDevice(p place) bool {
	switch p {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",
		"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty":
		return true
	}
	return path.Dir(string(p)) == "/dev/fd"
}
