package shell

import "strings"

// shopts are the options of shopt that don't change how the rest of the source
// is read here.
var shopts = map[string]bool{
	"nullglob": true, "failglob": true, "dotglob": true, "globstar": true,
	"nocaseglob": true, "nocasematch": true, "extglob": true,
	"inherit_errexit": true,
}

// setOptions are the long options of set that don't either.
var setOptions = map[string]bool{
	"errexit": true, "nounset": true, "xtrace": true, "pipefail": true,
	"verbose": true, "noglob": true, "noclobber": true, "errtrace": true,
	"functrace": true, "allexport": true, "monitor": true, "notify": true,
}

// judge marks what makes a command, or the source after it, unknowable to this
// reader: an unknown program, and builtins that change how the shell reads.
func (r *reader) judge(c Command) {
	name := c.Words[0]
	switch {
	case !name.Known:
		r.opaque("the command word is not known from the text", name.Start, name.End)
		return
	case name.Glob:
		r.opaque("the command word is a pattern", name.Start, name.End)
		return
	case name.Text == "":
		r.opaque("the command word is empty", name.Start, name.End)
		return
	}
	reason := ""
	switch name.Text {
	case "alias":
		reason = "an alias changes how the rest is read"
	case "set":
		if !plainSet(c.Words[1:]) {
			reason = "set changes how the rest is read"
		}
	case "shopt":
		for _, w := range c.Words[1:] {
			if !w.Known || w.Glob || !strings.HasPrefix(w.Text, "-") && !shopts[w.Text] || strings.Contains(w.Text, "o") && w.Text[0] == '-' {
				reason = "shopt changes how the rest is read"
			}
		}
	case "declare", "typeset", "local", "export", "readonly", "nameref":
		reason = declares(c.Words[1:])
	}
	if reason != "" {
		r.opaque(reason, c.Start, c.End)
	}
}

// plainSet says whether set with these arguments leaves alone how words are
// expanded and directories followed.
func plainSet(args []Word) bool {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case !w.Known && w.Prefix == "", w.Glob:
			return false
		case w.Known && (w.Text == "--" || w.Text == "-"):
			return true
		case !strings.HasPrefix(w.Text, "-") && !strings.HasPrefix(w.Text, "+"):
			return true // positional parameters from here
		case !w.Known:
			return false
		}
		if strings.Trim(w.Text[1:], "euxvfhnbCmETao") != "" {
			return false
		}
		for range strings.Count(w.Text, "o") {
			// Each o takes the next argument; the last may have none.
			if i++; i < len(args) && (!args[i].Known || !setOptions[args[i].Text]) {
				return false
			}
		}
	}
	return true
}

// declares says why a declaration with these arguments can't be followed, or
// "".
func declares(args []Word) string {
	for _, w := range args {
		switch {
		case !w.Known && !strings.Contains(w.Prefix, "="), w.Glob && !strings.Contains(w.Text, "="):
			return "a declaration takes what it sets from an expansion"
		case strings.HasPrefix(w.Text, "-") && strings.Trim(w.Text[1:], "aAfFgIilprtux") != "" && w.Text != "--":
			return "a declaration makes one variable stand for another"
		}
	}
	return ""
}
