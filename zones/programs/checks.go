package programs

import (
	"path"
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// A check looks at a command in ways that the table can't say. It may add to
// the description, and says whether the command runs another.
type check func(u *usage, words []shell.Word, d *Description) (launches bool)

// checks are those that an entry can name.
var checks = map[string]check{
	"script": runsMore, "make": makeRunsMore, "tar": tarRunsMore, "curl": curlFiles, "wget": wgetFiles,
	"gitConfig": gitConfig, "gitSets": gitSets, "follows": followsUnknown, "editor": editorRunsMore, "env": envRunsMore, "goRun": goRunsMore, "pager": pagerFiles, "zip": zipRunsMore, "gcc": gccRunsMore, "subcommands": otherSubcommands, "followsOther": followsOther, "module": moduleRunsMore,
}

// describeInner is Describe, and innerRuns RunsInstalled; the table, which they
// need, names checks.
var (
	describeInner func([]shell.Word) Description
	innerRuns     func([]shell.Word) ([]shell.Word, bool)
)

func init() { describeInner, innerRuns = Describe, RunsInstalled }

// unlaunching says whether an exact option is given that the entry lists under
// unless.
func (u *usage) unlaunching() bool {
	return slices.ContainsFunc(u.flags, func(f flag) bool {
		return f.exact && len(f.options) == 1 && slices.ContainsFunc(f.options[0].spellings, func(s string) bool {
			return slices.Contains(u.node.unless, s)
		})
	})
}

// runsMore is the check of interpreters: a script in a file is a program like
// any other, everything else is code that can't be seen.
func runsMore(u *usage, _ []shell.Word, d *Description) bool {
	d.Known = false
	if u.unread || u.unsure {
		return true
	}
	if len(u.operands) == 0 {
		return !u.unlaunching()
	}
	for _, f := range u.flags {
		// Of a shell: -oc takes a word and has a c as well.
		if f.text == "-o" && (f.value == nil || !f.value.Known || len(f.value.Text) < 4) {
			return true
		}
	}
	script := u.operands[0]
	switch {
	case !script.Known, script.Glob, script.Text == "", strings.Contains(script.Text, "://"), strings.IndexByte("-+", script.Text[0]) >= 0:
		return true
	}
	clean := path.Clean(script.Text)
	d.Script = !strings.HasPrefix(clean, "/dev/") && !strings.HasPrefix(clean, "/proc/")
	return true
}

// unseenModules run code that is given to them, or ask for it.
var unseenModules = []string{"timeit", "code", "pdb", "runpy", "IPython", "ptpython", "cProfile", "profile", "trace", "asyncio", "idlelib"}

// moduleRunsMore is that of python, which has modules.
func moduleRunsMore(u *usage, words []shell.Word, d *Description) bool {
	for _, f := range u.flags {
		if f.text == "-m" && f.value != nil && len(f.options) == 1 {
			d.Known = false
			d.Script = !u.unread && f.value.Known && !f.value.Glob && !slices.Contains(unseenModules, strings.SplitN(f.value.Text, ".", 2)[0])
			return true
		}
	}
	return runsMore(u, words, d)
}

// followsUnknown is the check of what runs a program of the project, or one
// that is installed: not code, as long as it is no launcher itself.
func followsUnknown(u *usage, words []shell.Word, d *Description) bool {
	d.Known = false
	if u.unread || u.unsure {
		return true
	}
	if len(u.operands) == 0 {
		return len(u.names) == 1 && len(u.node.subs) == 0 && !u.unlaunching()
	}
	if !u.operands[0].Known || u.operands[0].Glob || u.operands[0].Text == "" {
		return true
	}
	if _, again := innerRuns(u.operands); again {
		return true // one in the other is not followed
	}
	inner := describeInner(u.operands)
	d.Files = append(d.Files, inner.Files...)
	d.Script = inner.Opaque == "" || inner.Script
	return true
}

// editorRunsMore: files are written; what begins with + or has -c runs.
func editorRunsMore(u *usage, _ []shell.Word, d *Description) bool {
	if u.unread || u.unsure {
		return true
	}
	return slices.ContainsFunc(u.operands, func(w shell.Word) bool {
		line, plus := strings.CutPrefix(w.Text, "+")
		return w.Known && plus && line != "" && !isDigits(line)
	})
}

// envRunsMore: alone it prints.
func envRunsMore(_ *usage, words []shell.Word, _ *Description) bool { return len(words) > 1 }

func makeRunsMore(u *usage, words []shell.Word, _ *Description) bool {
	for _, f := range u.flags {
		if (f.text == "-f" || f.text == "--file" || f.text == "--makefile") && f.value != nil && isStandardInput(*f.value) {
			return true
		}
		if strings.HasPrefix(f.text, "--ev") || f.text == "-E" {
			return true
		}
	}
	for _, w := range words[1:] {
		name, value, ok := strings.Cut(w.Text, "=")
		name = strings.TrimRight(name, ":+?!")
		if ok && (name == "SHELL" || name == ".SHELLFLAGS" || name == "MAKEFLAGS" || name == "MAKEFILES" || strings.HasSuffix(w.Text[:len(w.Text)-len(value)], "!=") ||
			w.Known && (strings.Contains(value, "$(") || strings.Contains(value, "${"))) {
			return true
		}
	}
	return false
}

func isStandardInput(w shell.Word) bool {
	return w.Text == "-" || strings.HasPrefix(w.Text, "/dev/") || strings.HasPrefix(w.Text, "/proc/") || strings.HasPrefix(w.Text, "<(")
}

// tarLaunches are the options of tar that run something.
var tarLaunches = []string{"--checkpoint-action", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command"}

// tarRunsMore reads tar's options, the first of which need no dash.
func tarRunsMore(_ *usage, words []shell.Word, d *Description) bool {
	launches := false
	d.Known = false
	d.Files = looseFiles(words[1:], true)
	for i := 1; i < len(words); i++ {
		w := words[i]
		name, value, hasValue := strings.Cut(w.Text, "=")
		next := i + 1
		switch {
		case !w.Known:
		case strings.HasPrefix(w.Text, "--") && len(name) > 3:
			launches = launches || slices.ContainsFunc(tarLaunches, func(l string) bool { return strings.HasPrefix(l, name) })
			if !strings.HasPrefix("--directory", name) {
				continue
			}
			if hasValue {
				d.Dirs = append(d.Dirs, *part(w, value))
			} else if next < len(words) {
				d.Dirs = append(d.Dirs, words[next])
			}
		case i == 1 && !strings.HasPrefix(w.Text, "-"): // each letter takes one of the words that follow
			launches = launches || strings.ContainsAny(w.Text, "IF")
			for _, letter := range w.Text {
				if !strings.ContainsRune("fCbTXgKLNVHIF", letter) {
					continue
				}
				if letter == 'C' && next < len(words) {
					d.Dirs = append(d.Dirs, words[next])
				}
				next++
			}
		case strings.HasPrefix(w.Text, "-"):
			at := strings.IndexAny(w.Text, "fCbTXgKLNVHIF")
			if at < 0 {
				continue
			}
			switch letter, rest := w.Text[at], w.Text[at+1:]; {
			case letter == 'I' || letter == 'F':
				launches = true
			case letter == 'C' && rest != "":
				d.Dirs = append(d.Dirs, *part(w, rest))
			case letter == 'C' && next < len(words):
				d.Dirs = append(d.Dirs, words[next])
			}
		}
	}
	return launches
}

// download is the file that is made of a URL.
func download(w shell.Word) (File, bool) {
	if !w.Known {
		return File{}, false
	}
	text, _, _ := strings.Cut(w.Text, "?")
	text, _, _ = strings.Cut(text, "#")
	if _, rest, ok := strings.Cut(text, "://"); ok {
		text = rest
	}
	_, name, ok := strings.Cut(text, "/")
	if name = path.Base(name); !ok || name == "." || name == "/" {
		return File{}, false
	}
	return File{Word: shell.Word{Text: "./" + name, Known: true, Start: w.Start, End: w.End}, Access: shell.AccessWrite}, true
}

func (u *usage) given(spellings ...string) bool {
	return slices.ContainsFunc(u.flags, func(f flag) bool {
		return slices.Contains(spellings, f.text) || len(f.options) > 0 && slices.ContainsFunc(spellings, func(s string) bool {
			return slices.Contains(f.options[0].spellings, s)
		})
	})
}

func (u *usage) downloads(d *Description) {
	urls := slices.Clone(u.operands)
	for _, f := range u.flags {
		if f.text == "--url" && f.value != nil {
			urls = append(urls, *f.value)
		}
	}
	folder := shell.Word{Text: ".", Known: true}
	for _, f := range u.flags {
		if (f.text == "-P" || f.text == "--directory-prefix" || f.text == "--output-dir") && f.value != nil && f.value.Known {
			folder = *f.value
		}
	}
	for _, w := range urls {
		if f, ok := download(w); ok {
			name := strings.TrimPrefix(f.Word.Text, ".")
			f.Word.Text, f.Word.Tilde = folder.Text+name, folder.Tilde
			d.Files = append(d.Files, f)
		}
	}
}

func curlFiles(u *usage, _ []shell.Word, d *Description) bool {
	if u.given("-O", "--remote-name-all") {
		u.downloads(d)
	}
	return false
}

func wgetFiles(u *usage, _ []shell.Word, d *Description) bool {
	if !u.given("-O", "--spider") {
		u.downloads(d)
	}
	return false
}

// gitConfig adds the file that is written.
func gitConfig(u *usage, _ []shell.Word, d *Description) bool {
	writes := u.given("--add", "--unset", "-e")
	gets := u.given("--get", "-l") || len(u.operands) > 0 && slices.Contains([]string{"list", "get"}, u.operands[0].Text)
	if !writes && (gets || len(u.operands) < 2) {
		return false
	}
	file := shell.Word{Text: ".git/config", Known: true}
	switch {
	case u.given("--global"):
		file = shell.Word{Text: "~/.gitconfig", Known: true, Tilde: true}
	case u.given("--system"):
		file.Text = "/etc/gitconfig"
	}
	for i, f := range d.Files {
		if u.given("-f") && f.Access == shell.AccessRead && !f.Name && !f.Possible {
			d.Files[i].Access = shell.AccessWrite
			return false
		}
	}
	d.Files = append(d.Files, File{Word: file, Access: shell.AccessWrite})
	return false
}

// pagerFiles: a pager may start an editor, when somebody tells it to, so that
// nothing that it does is safe.
func pagerFiles(u *usage, _ []shell.Word, _ *Description) bool {
	return slices.ContainsFunc(u.operands, func(w shell.Word) bool { return w.Known && strings.HasPrefix(w.Text, "+") })
}

// goRunsMore: `go run .` builds and runs what is there.
func goRunsMore(u *usage, _ []shell.Word, d *Description) bool {
	d.Known = false
	if u.unread || u.unsure || len(u.operands) == 0 || !u.operands[0].Known {
		return true
	}
	_, version, ok := strings.Cut(u.operands[0].Text, "@")
	d.Script = !ok || version == "" // or it is somebody else's
	return true
}

// harmlessGitKeys begin the settings that make git run nothing.
var harmlessGitKeys = []string{
	"user.", "color.", "advice.", "init.defaultbranch", "commit.gpgsign", "tag.gpgsign", "core.quotepath", "core.autocrlf",
	"core.eol", "core.longpaths", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "protocol.version",
	"http.postbuffer", "http.lowspeed", "log.showsignature=false", "log.date", "log.decorate", "status.", "column.", "fetch.prune", "safe.directory",
}

// gitSets: a setting may name a program, or be an alias that runs one.
func gitSets(u *usage, _ []shell.Word, d *Description) bool {
	launches := false
	for _, f := range u.flags {
		if !f.global && len(u.names) > 1 || f.text != "-c" || f.value == nil {
			continue
		}
		key := f.value.Text
		if !f.value.Known {
			key = f.value.Prefix
		}
		if _, _, ok := strings.Cut(key, "="); !ok && !f.value.Known {
			launches = true
		}
		key = strings.ToLower(key)
		if !slices.ContainsFunc(harmlessGitKeys, func(h string) bool { return strings.HasPrefix(key, h) }) {
			d.Steers = "git -c may make it run another command, which this version does not follow"
			launches = launches || u.noSub || strings.HasPrefix(key, "alias.")
		}
	}
	return launches
}

// zipRunsMore: with -TT, a program of one's own tests the archive.
func zipRunsMore(_ *usage, words []shell.Word, _ *Description) bool {
	return slices.ContainsFunc(words[1:], func(w shell.Word) bool {
		return strings.HasPrefix(w.Text, "-TT") || strings.HasPrefix(w.Text, "--unz")
	})
}

// gccRunsMore: what is loaded into a compiler, or started instead of its parts.
func gccRunsMore(_ *usage, words []shell.Word, _ *Description) bool {
	return slices.ContainsFunc(words[1:], func(w shell.Word) bool {
		return slices.ContainsFunc([]string{"-wrapper", "-fplugin", "-fpass-plugin", "-specs", "--specs", "-B", "@", "-Xclang"}, func(p string) bool {
			return strings.HasPrefix(w.Text, p)
		})
	})
}

// otherSubcommands: only the subcommands that the table has run nothing else.
func otherSubcommands(u *usage, _ []shell.Word, _ *Description) bool {
	return len(u.names) == 1 || u.noSub
}

// followsOther: a subcommand that there is not is a script, or any program.
func followsOther(u *usage, words []shell.Word, d *Description) bool {
	return u.noSub && followsUnknown(u, words, d)
}
