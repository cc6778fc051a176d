package zones

import (
	"slices"
	"strconv"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// PolicyName is what findings of zones carry as their policy; the rule is the zone's id.
const PolicyName = "zones"

// judgeFile judges one target of a file action: its uri, its path and its
// realPath, where it has them. All have to be granted, the strictest wins.
func (j *judgement) judgeFile(target int, t *protocol.Target, op int) {
	if t.URI != "" {
		p, problem := j.around.readURI(t.URI)
		j.judgeNamed(target, "uri", t.URI, p, problem, op)
	}
	if t.Path != "" {
		p, problem := j.around.readPath(t.Path)
		j.judgeNamed(target, "path", t.Path, p, problem, op)
	}
	if t.RealPath != "" {
		p, problem := absolute(t.RealPath)
		j.judgeNamed(target, "realPath", t.RealPath, p, problem, op)
	}
}

func (j *judgement) judgeNamed(target int, field, text string, p place, problem string, op int) {
	if problem != "" {
		j.invalid(target, "action.targets["+strconv.Itoa(target)+"]."+field+": "+show(text)+" "+problem)
		return
	}
	// A folder goes with all that is in it.
	j.judgePlace(target, &j.around, text, p, op, op == opIndex(protocol.OpDelete), subject{})
}

// judgePlace judges an operation on a path, under its own name and every other
// one that is known. The text is what p was read from; below says that what is
// in the folder is handled, too.
func (j *judgement) judgePlace(target int, at *surroundings, text string, p place, op int, below bool, by subject) {
	for _, name := range j.spellings(target, at, text, p) {
		j.judgeSpelling(target, name, op, by)
		if below {
			j.judgeBelow(target, name, op, by)
		}
	}
}

// spellings returns the names of the place p: its own, those that links of /proc
// lead to, and where the provider resolves links its real one. That the links
// can't be resolved is an error finding.
func (j *judgement) spellings(target int, at *surroundings, text string, p place) []place {
	names := append(j.names[:0], p)
	for name := p; ; {
		next, linked, problem := at.proc(name)
		if linked && problem == "" && len(names) > maxLinks {
			problem = "leads through more than " + strconv.Itoa(maxLinks) + " links of /proc"
		}
		if problem != "" {
			j.invalid(target, show(p.String())+" "+problem)
		}
		if problem != "" || !linked {
			break
		}
		names = append(names, next)
		name = next
	}
	if j.set.resolve == nil {
		return names
	}
	real, err := j.set.resolve(at.raw(text))
	if err != nil {
		j.failed(target, "Resolving the links of "+show(p.String())+" failed: "+err.Error())
		return names
	}
	if !slices.Contains(names, real) {
		names = append(names, real)
	}
	return names
}

func (j *judgement) judgeSpelling(target int, p place, op int, by subject) {
	zones, protected := j.set.speaking(p, &j.around, j.buffer[:0])
	if !protected { // one speaks; of a tie the stricter
		if z := strictest(zones, op); z != nil {
			j.addFile(target, z, p, op, by)
			if z.files[op] == protocol.VerdictAllow {
				return
			}
		} else {
			j.leave(target, p, op, by)
		}
		return
	}
	granted := false
	for _, z := range zones {
		if v := z.files[op]; v != "" {
			j.addFile(target, z, p, op, by)
			granted = true // by allow, or by what is stricter than any default could be
		}
	}
	if !granted {
		j.leave(target, p, op, by)
	}
}

// judgeBelow judges a folder that is handled with all that is in it against the
// protected zones whose literal path lies below.
func (j *judgement) judgeBelow(target int, p place, op int, by subject) {
	for _, z := range j.set.below(p, &j.around, j.buffer[:0]) {
		if v := z.files[op]; v != "" && v != protocol.VerdictAllow {
			j.add(z.order, target, z.ID, v, doing[op]+show(p.String())+by.text()+" would reach what zone "+z.ID+" protects"+z.because())
		}
	}
}

func (j *judgement) addFile(target int, z *zone, p place, op int, by subject) {
	j.add(z.order, target, z.ID, z.files[op], z.say(z.files[op], doing[op]+show(p.String())+by.text()))
}

func (j *judgement) leave(target int, p place, op int, by subject) {
	j.into.Leave(target, doing[op]+show(p.String())+by.text())
}

// doing begins a sentence about an operation; the index is that of fileOps.
var doing = [len(fileOps)]string{"Reading ", "Writing ", "Deleting ", "Listing ", "Looking at "}

// say ends the sentence about an action that a zone judged.
func (z *zone) say(v protocol.Verdict, what string) string {
	switch v {
	case protocol.VerdictAllow:
		return what + " is allowed in zone " + z.ID + "."
	case protocol.VerdictAsk:
		return what + " needs approval in zone " + z.ID + z.because()
	}
	return what + " is not allowed in zone " + z.ID + z.because()
}

func (z *zone) because() string {
	if z.Reason == "" {
		return "."
	}
	return ": " + z.Reason
}

// show writes a path or a command into a sentence: as it is where it is plain
// text, quoted where it has line ends or other characters that don't show.
func show(text string) string {
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	for _, r := range text {
		if r != ' ' && !strconv.IsGraphic(r) || r == '\uFFFD' {
			return strconv.QuoteToGraphic(text)
		}
	}
	return text
}

// maxShown keeps a sentence readable.
const maxShown = 400
