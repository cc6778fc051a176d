package zones

import (
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/guardrails-provider/guardrails-provider/zones/programs"
	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// judgeProcess judges every command that a target could run, each by the zone of
// the folder that it runs in, and each file that it touches by the zone of that.
func (j *judgement) judgeProcess(target int, t *protocol.Target) {
	if j.set.zones == 0 {
		j.into.Leave(target, "Running "+show(commandText(t)))
		return
	}
	var reading shell.Reading
	if t.Argv != nil {
		reading = shell.Argv(t.Argv)
	} else {
		reading = shell.Read(t.Command)
	}
	for _, o := range reading.Opaque {
		excerpt := commandText(t)
		if t.Command != "" && o.End > o.Start && o.End <= len(t.Command) {
			excerpt = t.Command[o.Start:o.End]
		}
		j.opaque(target, excerpt, o.Reason)
	}
	how := globs(&reading)
	for i := range reading.Commands {
		j.judgeCommand(target, &reading.Commands[i], how, maxWrappers)
	}
	if len(reading.Commands) == 0 || len(reading.Opaque) > 0 {
		// Comments, or assignments only: it runs nothing, where it would run. Or
		// more than what was derived: no pattern fits it, so that the zone's
		// default is left.
		rest := command{Command: new(shell.Command), Description: programs.Describe(nil), text: commandText(t)}
		rest.hidden = len(reading.Opaque) > 0
		for _, dir := range j.folders(target, &rest) {
			j.judgeRun(target, &rest, dir)
		}
	}
}

// globs says what the source tells the shell of how patterns match.
func globs(reading *shell.Reading) (how globbing) {
	for i := range reading.Commands {
		c := &reading.Commands[i]
		for _, a := range c.Assigns { // setting it turns dotglob on
			how.dots = how.dots || a.Name == "GLOBIGNORE"
		}
		if len(c.Words) == 0 || c.Words[0].Text != "shopt" {
			continue
		}
		for _, w := range c.Words[1:] {
			how.dots = how.dots || w.Text == "dotglob"
			how.foldCase = how.foldCase || w.Text == "nocaseglob"
		}
	}
	return how
}

func commandText(t *protocol.Target) string {
	if t.Argv != nil {
		return strings.Join(t.Argv, " ")
	}
	return t.Command
}

// opaque adds the ask for what can't be known.
func (j *judgement) opaque(target int, excerpt, reason string) {
	j.add(noZone, target, "", protocol.VerdictAsk, "`"+show(excerpt)+"` can't be judged: "+reason+".")
}

// command is a command on its way through the zones.
type command struct {
	*shell.Command
	programs.Description
	text     string
	steered  bool // by variables that change what runs
	hidden   bool // stands for commands that are not known
	globbing globbing
}

// maxWrappers is how many wrappers, one in the other, are followed.
const maxWrappers = 4

func (j *judgement) judgeCommand(target int, of *shell.Command, how globbing, wrappers int) {
	c := command{Command: of, text: text(of.Words), globbing: how}
	if !of.Function { // the body of a function is judged where it stands
		c.Description = programs.Describe(of.Words)
	}
	switch {
	case c.Script:
		c.Opaque = "" // the file that it runs is judged
	case c.Opaque == "":
		c.Opaque = c.Steers
	}
	for _, a := range of.Assigns {
		c.steered = c.steered || programs.Steering(a.Name)
	}
	if !of.Function && wrappers > 0 {
		j.judgeWrapped(target, &c, how, wrappers-1)
	}
	if c.Opaque != "" {
		j.opaque(target, c.text, c.Opaque)
	}
	dirs := j.folders(target, &c)
	for _, dir := range dirs {
		at := j.around
		at.cwd, at.hasCwd, at.rawCwd = dir, true, string(dir)
		j.judgeRedirects(target, &c, &at)
		for _, there := range j.sent(target, &c, &at) {
			if len(of.Words) > 0 && !of.Function {
				j.judgeRun(target, &c, there)
			}
			at.cwd, at.rawCwd = there, string(there)
			j.judgeCommandFiles(target, &c, &at)
		}
	}
	if len(dirs) == 0 { // what is absolute can be judged all the same
		j.into.Leave(target, "Running `"+show(c.text)+"`")
		at := j.around
		j.judgeRedirects(target, &c, &at)
		j.judgeCommandFiles(target, &c, &at)
		for _, there := range j.sent(target, &c, &at) {
			j.judgeRun(target, &c, there)
		}
	}
}

// judgeWrapped judges the command that is run by one of which every word is
// understood: `timeout 5 git push` and `npx eslint` are two commands each.
func (j *judgement) judgeWrapped(target int, c *command, how globbing, wrappers int) {
	wrapped := *c.Command
	wrapped.Redirects = nil
	if inner, ok := programs.Unwrap(c.Words); ok {
		c.Opaque, c.Files, c.Safe = "", nil, safeInside(inner, wrappers)
		wrapped.Words = inner
	} else if inner, ok := programs.RunsInstalled(c.Words); ok {
		wrapped.Words = inner
	} else {
		return
	}
	j.judgeCommand(target, &wrapped, how, wrappers)
}

// safeInside says whether what a wrapper runs only reads.
func safeInside(words []shell.Word, wrappers int) bool {
	if inner, ok := programs.Unwrap(words); ok && wrappers > 0 {
		return safeInside(inner, wrappers-1)
	}
	return programs.Describe(words).Safe
}

// maxDirs is how many options may send a command to other folders.
const maxDirs = 3

// sent returns the folders in which a command is judged: where it is started,
// and where options such as git's -C send it.
func (j *judgement) sent(target int, c *command, from *surroundings) []place {
	var all []place
	if from.hasCwd {
		all = append(all, from.cwd)
	}
	if len(c.Dirs) > maxDirs {
		j.opaque(target, c.text, "it goes to too many folders")
		return all
	}
	for _, w := range c.Dirs {
		if !w.Known || w.Glob {
			if !c.Safe {
				j.opaque(target, c.text, "the folder "+w.Text+" to which it goes can't be known from the text")
			}
			continue
		}
		starts := []surroundings{*from}
		for _, p := range all {
			at := *from
			at.cwd, at.hasCwd, at.rawCwd = p, true, string(p)
			starts = append(starts, at)
		}
		for i := range starts {
			p, problem := starts[i].readPath(wordPath(w))
			switch {
			case problem != "":
				j.opaque(target, c.text, "the folder "+show(w.Text)+" to which it goes "+problem)
			case !slices.Contains(all, p):
				all = append(all, p)
			}
		}
	}
	return all
}

func (j *judgement) judgeRedirects(target int, c *command, at *surroundings) {
	for _, r := range c.Redirects {
		if p, problem := at.readPath(wordPath(r.Target)); r.Target.Known && problem == "" && network(p) {
			j.opaque(target, c.text, "a redirection to "+show(p.String())+" opens a network connection")
			continue
		}
		j.judgeCommandFile(target, c, at, programs.File{Word: r.Target, Access: r.Access}, true)
	}
}

func (j *judgement) judgeCommandFiles(target int, c *command, at *surroundings) {
	for _, f := range c.Files {
		j.judgeCommandFile(target, c, at, f, c.Known && !f.Possible && !f.Name)
	}
	j.judgeInto(target, c, at)
}

// folders returns the folders in which the command may run. Where they can't be
// known, that is one ask, and the command is judged in the check's cwd as well,
// whose zone may block it.
func (j *judgement) folders(target int, c *command) []place {
	steps := [][]string{c.Dir.Steps}
	if c.Dir.Unknown {
		steps = c.Dir.Either
	}
	var dirs []place
	for _, s := range steps {
		dir, problem := j.follow(s)
		if problem != "" {
			j.opaque(target, c.text, "the folder that it runs in "+problem)
			continue
		}
		dirs = append(dirs, dir)
	}
	if len(steps) == 0 {
		j.opaque(target, c.text, "the folder that it runs in can't be known")
	}
	if len(dirs) == 0 && j.around.hasCwd {
		dirs = append(dirs, j.around.cwd)
	}
	return dirs
}

// follow goes from the check's cwd along the arguments of cd.
func (j *judgement) follow(steps []string) (place, string) {
	at := j.around
	if len(steps) == 0 && !at.hasCwd {
		if at.cwdWhy != "" {
			return "", "can't be known: " + at.cwdWhy
		}
		return "", "can't be known: context.cwd is missing"
	}
	for _, step := range steps {
		p, problem := at.readPath(step)
		if problem != "" {
			return "", problem
		}
		at.cwd, at.hasCwd = p, true
	}
	return at.cwd, ""
}

// judgeRun judges a command by the zone of the folder that it runs in, under
// every name of that.
func (j *judgement) judgeRun(target int, c *command, dir place) {
	at := j.around
	for _, name := range j.spellings(target, &at, dir.String(), dir) {
		j.judgeRunIn(target, c, name)
	}
}

func (j *judgement) judgeRunIn(target int, c *command, dir place) {
	zones, protected := j.set.speaking(dir, &j.around, j.buffer[:0])
	var strictestZone *zone
	var strictestMode Mode
	spoken := false
	for _, z := range zones {
		mode, ok := z.Commands.mode(c)
		if !ok {
			continue
		}
		if protected {
			j.addRun(target, c, z, mode)
		} else if !spoken || mode.strictness() > strictestMode.strictness() {
			strictestZone, strictestMode = z, mode
		}
		spoken = true
	}
	switch {
	case !spoken:
		j.into.Leave(target, "Running `"+show(c.text)+"` in "+show(dir.String()))
	case !protected:
		j.addRun(target, c, strictestZone, strictestMode)
	}
}

func (j *judgement) addRun(target int, c *command, z *zone, mode Mode) {
	if c.hidden && mode != ModeBlock {
		return // the ask for what can't be known is there already
	}
	what := "Running `" + show(c.text) + "`"
	verdict := protocol.VerdictAsk
	switch mode {
	case ModeAllow:
		verdict = protocol.VerdictAllow
	case ModeBlock:
		verdict = protocol.VerdictBlock
	case ModeSafeOnly:
		if c.Safe && !c.steered {
			verdict = protocol.VerdictAllow
		} else if c.Opaque == "" {
			what += ", which is not known to only read,"
		}
	}
	j.add(z.order, target, z.ID, verdict, z.say(verdict, what))
}

// mode returns what a zone says of a command: by the pattern with the most
// literal words, among equals by the stricter, else by its default. What allows
// has to fit for sure; a restriction that may fit, because of a word that is not
// known, asks.
func (cs *Commands) mode(c *command) (Mode, bool) {
	if cs == nil {
		return ModeAsk, false
	}
	mode, literals, found := cs.Default, -1, cs.HasDefault
	possible := -1 // the most literal words of a restriction that may fit
	for i := range cs.Rules {
		r := &cs.Rules[i]
		n := r.Pattern.Literals()
		switch {
		case r.Mode == ModeAllow:
			if c.steered || c.Opaque != "" || !r.Pattern.MatchesSurely(c.Words) {
				continue
			}
		case !r.Pattern.MatchesPlainly(c.Words):
			if r.Pattern.MatchesAny(c.Words) {
				possible = max(possible, n)
			}
			continue
		}
		if n > literals || n == literals && r.Mode.strictness() > mode.strictness() {
			mode, literals, found = r.Mode, n, true
		}
	}
	if possible >= max(literals, 0) && (!found || mode.strictness() < ModeAsk.strictness()) {
		return ModeAsk, true
	}
	return mode, found
}

// text writes a command as one line.
func text(words []shell.Word) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	return strings.Join(texts, " ")
}
