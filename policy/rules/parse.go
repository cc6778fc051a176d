package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a text of rules. The Text has every line that is right; the
// mistakes are in the order of their positions, and a text with any is not to be
// used.
func Parse(text string) (*Text, []Mistake) {
	var mistakes []Mistake
	if len(text) > MaxText {
		return new(Text), []Mistake{{1, 1, fmt.Sprintf("the rules have %d bytes; at most %d are read: split them into several files", len(text), MaxText)}}
	}
	p := parser{text: new(Text), seen: make(map[string]int)}
	text = strings.TrimPrefix(text, "\ufeff") // some editors begin files with it
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		p.scanner = scanner{line: line, number: number, note: func(m Mistake) { mistakes = append(mistakes, m) }}
		p.parse()
	}
	slices.SortStableFunc(mistakes, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p.text, mistakes
}

// parser reads one line at a time into a Text.
type parser struct {
	scanner
	text *Text
	seen map[string]int // the canonical lines so far, and where they stand
}

func (p *parser) parse() {
	if !p.readable() || !p.skip() {
		return
	}
	first, at := p.word()
	form := first
	if forms[form] == "" {
		if form = meant[strings.ToLower(first)]; form == "" {
			form = nearest(first, "map", "require", "block", "limit")
		}
		if form == "" {
			hint := ""
			if strings.EqualFold(first, "allow") {
				hint = "; rules only restrict, and what no rule speaks of is not held back by one"
			}
			p.mistake(at, "%s is no rule; expected map, require, block or limit%s", first, hint)
			return
		}
		p.mistake(at, "%s is no rule; did you mean %s? The form is: %s", first, form, forms[form])
	}
	switch form {
	case "map":
		p.parseMap(at)
	case "require":
		p.parseRequire(at)
	case "block":
		p.parseBlock(at)
	case "limit":
		p.parseLimit(at)
	}
}

// expect reads a keyword of the form. A misspelt one is noted and taken as read.
func (p *parser) expect(form string, keywords ...string) (string, bool) {
	word, at := p.word()
	for _, k := range keywords {
		if word == k {
			return k, true
		}
	}
	want := strings.Join(keywords, " or ")
	if word == "" {
		p.mistake(at, "the line ends here; expected %s; the form is: %s", want, forms[form])
		return "", false
	}
	if near := nearest(word, keywords...); near != "" {
		p.mistake(at, "expected %s, not %s; did you mean %s?", want, word, near)
		return near, true
	}
	p.mistake(at, "expected %s, not %s; the form is: %s", want, word, forms[form])
	return "", false
}

// name reads a tool's name, before the keyword next if that isn't empty. A name
// that is wrong is noted, and reading can go on after it.
func (p *parser) name(form, next string) (string, bool) {
	word, at := p.word()
	switch {
	case word == "":
		p.mistake(at, "the line ends here; expected a tool's name; the form is: %s", forms[form])
		return "", false
	case word == next && p.peek() != next:
		p.at = at
		p.mistake(at, "expected a tool's name before %s; the form is: %s", next, forms[form])
		return "", true
	}
	if problem := nameProblem(word); problem != "" {
		p.mistake(at, "%s", problem)
	}
	return word, true
}

// end notes what stands after the rule.
func (p *parser) end(form string) {
	word, at := p.word()
	switch {
	case word == "":
	case word == "and" || word == "or" || strings.HasPrefix(word, ","):
		p.mistake(at, "the rule ends before %s; write a line for each tool", word)
	default:
		p.mistake(at, "the rule ends before %s; expected nothing or a comment, which begins with #", word)
	}
}

// once notes a line that stands twice. It says whether the line may be kept.
func (p *parser) once(canonical string, at int) bool {
	if p.wrong {
		return false
	}
	if first, ok := p.seen[canonical]; ok {
		p.mistake(at, "stands twice, first in line %d; write it once", first)
		return false
	}
	p.seen[canonical] = p.number
	return true
}

func (p *parser) keep(r Rule, at int) {
	r.Line = p.number
	if p.once(r.String(), at) {
		p.text.Rules = append(p.text.Rules, r)
	}
}

func (p *parser) parseMap(start int) {
	m := Map{Line: p.number}
	word, at := p.word()
	dot := strings.LastIndexByte(word, '.')
	switch {
	case word == "":
		p.mistake(at, "the line ends here; expected TOOL.FIELD; the form is: %s", forms["map"])
		return
	case dot <= 0 || dot == len(word)-1:
		p.mistake(at, "%s is not TOOL.FIELD; expected a tool and a field of its input, such as bash.command", word)
	default:
		m.Tool, m.Field = word[:dot], word[dot+1:]
		if problem := nameProblem(m.Tool); problem != "" {
			p.mistake(at, "%s", problem)
		} else if problem := nameProblem(m.Field); problem != "" {
			p.mistake(at+dot+1, "%s", strings.Replace(problem, "a tool's name", "a field's name", 1))
		}
	}
	var ok bool
	if m.Pattern, ok = p.pattern(); !ok {
		return
	}
	if word := p.peek(); m.Pattern.word != "" && word != "" && word != "as" && strings.Contains(p.line[p.at:], " as ") {
		p.skip()
		p.mistake(p.at, "expected as, not %s; a pattern of several words stands in quotes, as in \"git push\"", word)
		return
	}
	if _, ok = p.expect("map", "as"); !ok {
		return
	}
	if m.Name, ok = p.name("map", ""); !ok {
		return
	}
	p.end("map")
	if p.once(m.String(), start) {
		p.text.Maps = append(p.text.Maps, m)
	}
}

func (p *parser) parseRequire(start int) {
	r := Rule{Kind: KindRequire}
	var ok bool
	switch near := nearest(p.peek(), humanApproval); {
	case near == "":
		if r.Other, ok = p.name("require", "before"); !ok {
			return
		}
	default:
		r.Kind = KindApproval
		if word, at := p.word(); word != humanApproval {
			p.mistake(at, "%s is not known; did you mean %s?", word, humanApproval)
		}
	}
	if _, ok = p.expect("require", "before"); !ok {
		return
	}
	p.skip()
	at := p.at
	if r.Tool, ok = p.name("require", ""); !ok {
		return
	}
	p.end("require")
	if r.Other != "" && r.Other == r.Tool {
		p.mistake(at, "%s can't be required before itself; name another tool, or write block %s", r.Tool, r.Tool)
	}
	p.keep(r, start)
}

func (p *parser) parseBlock(start int) {
	r := Rule{Kind: KindBlock}
	var ok bool
	if r.Tool, ok = p.name("block", ""); !ok {
		return
	}
	p.end("block")
	p.keep(r, start)
}

func (p *parser) parseLimit(start int) {
	r := Rule{Kind: KindLimitPerSession}
	var ok bool
	if r.Tool, ok = p.name("limit", "to"); !ok {
		return
	}
	if _, ok = p.expect("limit", "to"); !ok {
		return
	}
	number, numberAt := p.word()
	if number == "" {
		p.mistake(numberAt, "the line ends here; expected a number; the form is: %s", forms["limit"])
		return
	}
	if _, ok = p.expect("limit", "per"); !ok {
		return
	}
	p.skip()
	at := p.at
	per, ok := p.name("limit", "")
	if !ok {
		return
	}
	most := MaxPerSession
	if per != perSession {
		r.Kind, r.Other, most = KindLimitPerTool, per, MaxPerTool
	}
	p.end("limit")
	r.Max = p.count(number, numberAt, r.Tool, most)
	switch {
	case timeUnits[per]:
		p.mistake(at, "%s is a time, which rules know nothing of; write session or a tool whose success refills the limit", per)
	case per != perSession && distance(strings.ToLower(per), perSession) <= 1:
		p.mistake(at, "%s is not known; did you mean session?", per)
	case per == r.Tool:
		p.mistake(at, "%s can't refill its own limit; name another tool, or write session", per)
	}
	p.keep(r, start)
}

// count reads the N of a limit.
func (p *parser) count(number string, at int, tool string, most int) int {
	n, err := strconv.Atoi(number)
	switch {
	case strings.Trim(number, "0123456789") != "":
		p.mistake(at, "expected a whole number from 1 to %d, not %s", most, number)
	case err == nil && n == 0:
		p.mistake(at, "expected a whole number from 1 to %d, not 0; for none at all, write block %s", most, tool)
	case err != nil || n > most:
		p.mistake(at, "expected a whole number from 1 to %d, not %s", most, number)
	}
	return n
}
