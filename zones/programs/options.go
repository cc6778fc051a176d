package programs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// option is one option with all its spellings.
type option struct {
	spellings []string
	value     bool // takes a value
	attached  bool // only in the same word: --opt=value
	role      role // of the value
	unsafe    bool // with it, the program doesn't only read
	recursive bool
	launches  bool // its value, or what follows, is run
	first     bool // stands for the first operand
	writes    bool // operands that are read are written as well
	target    bool // its value is the destination, so that no operand is
	deletes   bool // operands that are listed are deleted
	last      bool // what follows its value belongs to another program
}

// role says what a word is to a program.
type role struct {
	file   bool
	access shell.Access
	dir    bool   // the command runs there as well
	parent bool   // or in the folder that it is in
	loose  bool   // nobody said
	form   string // how a file is written in it: at (@FILE), nameat (NAME@FILE), form (NAME=@FILE), url (file:…)
}

func parseRole(text string) (role, error) {
	switch text {
	case "text":
		return role{}, nil
	case "read":
		return role{file: true, access: shell.AccessRead}, nil
	case "write":
		return role{file: true, access: shell.AccessWrite}, nil
	case "delete":
		return role{file: true, access: shell.AccessDelete}, nil
	case "list":
		return role{file: true, access: shell.AccessList}, nil
	case "dir":
		return role{file: true, access: shell.AccessList, dir: true}, nil
	case "manifest":
		return role{file: true, access: shell.AccessRead, parent: true}, nil
	case "any":
		return role{loose: true}, nil
	case "at", "nameat", "form", "url":
		return role{form: text}, nil
	}
	return role{}, fmt.Errorf("unknown role %q: it is text, any, read, write, delete, list, dir, manifest, at, nameat, form or url", text)
}

// parseOption reads an option as the table writes it: its spellings, `=ROLE`
// if it takes a value or `=?ROLE` if it may take one in the same word, and
// what else there is to say of it.
func parseOption(spec string) (*option, error) {
	o := &option{}
	for _, field := range strings.Fields(spec) {
		switch {
		case strings.HasPrefix(field, "-"):
			o.spellings = append(o.spellings, field)
		case strings.HasPrefix(field, "="):
			text, optional := strings.CutPrefix(field[1:], "?")
			r, err := parseRole(text)
			if err != nil {
				return nil, err
			}
			o.value, o.attached, o.role = true, optional, r
		case field == "unsafe":
			o.unsafe = true
		case field == "recursive":
			o.recursive = true
		case field == "launches":
			o.launches = true
		case field == "first":
			o.first = true
		case field == "writes":
			o.writes = true
		case field == "deletes":
			o.deletes = true
		case field == "last":
			o.last = true
		case field == "target":
			o.target = true
		default:
			return nil, fmt.Errorf("what is %q?", field)
		}
	}
	if len(o.spellings) == 0 {
		return nil, fmt.Errorf("it has no spelling")
	}
	return o, nil
}

// operands says what the operands are, by position: one role may stand for any
// number of them.
type operands struct {
	before, after []role
	repeated      *role
}

func parseOperands(text string) (*operands, error) {
	switch text {
	case "":
		return nil, nil
	case "none":
		return &operands{repeated: &role{loose: true}}, nil
	}
	o := &operands{}
	for _, field := range strings.Fields(text) {
		name, repeated := strings.CutSuffix(field, "...")
		r, err := parseRole(name)
		switch {
		case err != nil:
			return nil, err
		case repeated && o.repeated != nil:
			return nil, fmt.Errorf("%q has two repeated roles", text)
		case repeated:
			o.repeated = &r
		case o.repeated != nil:
			o.after = append(o.after, r)
		default:
			o.before = append(o.before, r)
		}
	}
	return o, nil
}

// at returns the role of operand i of n.
func (o *operands) at(i, n int) role {
	switch {
	case i < len(o.before):
		return o.before[i]
	case i >= n-len(o.after) && n > len(o.before)+len(o.after):
		return o.after[i-(n-len(o.after))]
	case o.repeated != nil:
		return *o.repeated
	}
	return role{loose: true}
}

// changes says whether some operand is written or deleted.
func (o *operands) changes() bool {
	changing := func(r role) bool {
		return r.file && (r.access == shell.AccessWrite || r.access == shell.AccessDelete)
	}
	return o != nil && (slices.ContainsFunc(o.before, changing) || slices.ContainsFunc(o.after, changing) ||
		o.repeated != nil && changing(*o.repeated))
}
