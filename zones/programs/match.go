package programs

import (
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// matcher fits the operands of a pattern to the words of a command, over all
// the ways in which options could take values.
type matcher struct {
	mode  mode
	words []shell.Word
	want  []shell.Word
	seen  map[state]bool // results
}

// state is where a match stands.
type state struct {
	word, want int
	node       *node
	ended      bool // after --
}

// from says whether want[j:] fits words[i:], below a node of the table that is
// nil where the program isn't in it.
func (m *matcher) from(i, j int, n *node, ended bool) bool {
	if j == len(m.want) {
		return true
	}
	if i >= len(m.words) {
		return false
	}
	at := state{i, j, n, ended}
	if result, ok := m.seen[at]; ok {
		return result
	}
	result := m.step(at)
	if m.seen == nil {
		m.seen = map[state]bool{}
	}
	m.seen[at] = result
	return result
}

func (m *matcher) step(at state) bool {
	i, j, n, ended := at.word, at.want, at.node, at.ended
	w := m.words[i]
	switch {
	case !w.Known || w.Glob:
		return m.uncertain(at)
	case !ended && w.Text == "--":
		return m.from(i+1, j, n, true)
	case !ended && isOption(w):
		least, most := m.taken(i, n)
		if least == most {
			return m.from(i+1+least, j, n, false)
		}
		if m.mode == surely {
			return m.from(i+1+least, j, n, false) && m.from(i+1+most, j, n, false)
		}
		return m.from(i+1+least, j, n, false) || m.from(i+1+most, j, n, false)
	}
	want := m.want[j]
	if !isStar(want) && (w.Text != want.Text || w.Tilde != want.Tilde) {
		return false
	}
	if n != nil {
		if sub := n.subs[w.Text]; sub != nil {
			n = sub
		}
		ended = ended || n.style == styleLeading
	}
	return m.from(i+1, j+1, n, ended)
}

// uncertain fits a word that isn't known, or is a pattern of file names.
func (m *matcher) uncertain(at state) bool {
	i, j, n, ended := at.word, at.want, at.node, at.ended
	w := m.words[i]
	switch m.mode {
	case possibly:
		if many(w) {
			return true
		}
		// One operand, or one option that may take the next word.
		if m.couldBe(w, m.want[j]) {
			next := n
			if n != nil && n.subs[m.want[j].Text] != nil {
				next = n.subs[m.want[j].Text]
			}
			if m.from(i+1, j+1, next, ended) {
				return true
			}
		}
		return mayBeOption(w) && !ended && (m.from(i+1, j, n, false) || m.from(i+2, j, n, false))
	case plainly:
		return isStar(m.want[j]) && m.from(i+1, j+1, n, ended)
	default:
		return isStar(m.want[j]) && !many(w) && (ended || !mayBeOption(w)) && m.from(i+1, j+1, n, ended)
	}
}

// couldBe says whether a word with an unknown value could have that of want.
func (m *matcher) couldBe(w, want shell.Word) bool {
	return isStar(want) || strings.HasPrefix(want.Text, w.Prefix)
}

// taken says how many words after the option at i are its value, at least and
// at most.
func (m *matcher) taken(i int, n *node) (least, most int) {
	text := m.words[i].Text
	if n == nil || n.harmless && n.lookup(text) == nil && strings.HasPrefix(text, "--") {
		if strings.Contains(text, "=") {
			return 0, 0
		}
		return 0, 1
	}
	u := usage{node: n}
	took := u.option(m.words, i)
	if strings.HasPrefix(text, "--") && strings.Contains(text, "=") {
		return 0, 0
	}
	for _, f := range u.flags {
		if len(f.options) == 0 {
			return 0, 1
		}
		for _, o := range f.options {
			if !f.exact && (o.value && !o.attached) != (took == 1) {
				return 0, 1
			}
		}
	}
	return took, took
}
