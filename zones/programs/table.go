package programs

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

//go:embed table/*.yaml
var tables embed.FS

// document is one file of the table.
type document struct {
	// Sets are lists of options that several entries share, by name.
	Sets     map[string][]string `yaml:"sets"`
	Programs []entry             `yaml:"programs"`
}

// entry is a program or a subcommand, as it is written in the table.
type entry struct {
	Names        []string          `yaml:"names"`
	Style        string            `yaml:"style"`
	Options      []string          `yaml:"options"`
	Sets         []string          `yaml:"sets"`
	Other        string            `yaml:"other"`
	Sticky       bool              `yaml:"sticky"`
	Operands     string            `yaml:"operands"`
	MaxOperands  *int              `yaml:"maxOperands"`
	Keys         map[string]string `yaml:"keys"`
	Ignore       []string          `yaml:"ignore"`
	IgnorePrefix string            `yaml:"ignorePrefix"`
	Implied      string            `yaml:"implied"`
	Recursive    bool              `yaml:"recursive"`
	Safe         bool              `yaml:"safe"`
	Launches     string            `yaml:"launches"`
	Unless       []string          `yaml:"unless"`
	Code         string            `yaml:"code"`
	Check        string            `yaml:"check"`
	Subcommands  []entry           `yaml:"subcommands"`
}

// node is a compiled entry.
type node struct {
	parent       *node
	style        string
	options      map[string]*option // by spelling
	harmless     bool               // options that aren't listed change nothing
	sticky       bool
	operands     *operands // nil: not described
	most         int       // operands that a safe use may have; -1: any number
	keys         map[string]role
	ignore       map[string]bool
	ignorePrefix string        // operands that begin so mean nothing, if not empty
	implied      *shell.Access // of the current directory, without operands
	recursive    bool
	safe         bool
	launches     string
	unless       []string
	code         codeCheck // launches only if the code given to it may
	check        check
	follows      bool // what its operands say is run
	subs         map[string]*node
}

// The styles of options: gnu permutes and combines short ones; leading is gnu
// that ends at the first operand; single has long options with one dash.
const (
	styleGNU     = "gnu"
	styleLeading = "leading"
	styleSingle  = "single"
)

// known is the compiled table, by program name. The data is part of the
// binary, so that a mistake in it is a mistake of the build.
var known = sync.OnceValue(func() map[string]*node {
	t, err := load(tables)
	if err != nil {
		panic("the table of programs is broken: " + err.Error())
	}
	return t
})

// load reads and checks every file of the table.
func load(files fs.FS) (map[string]*node, error) {
	paths, err := fs.Glob(files, "table/*.yaml")
	if err != nil {
		return nil, err
	}
	out := map[string]*node{}
	var errs []error
	for _, path := range paths {
		data, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		var doc document
		if err := yaml.UnmarshalWithOptions(data, &doc, yaml.Strict()); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue
		}
		c := compiler{sets: doc.Sets}
		for _, e := range doc.Programs {
			c.add(out, nil, e, path)
		}
		errs = append(errs, c.errs...)
	}
	return out, errors.Join(errs...)
}

// compiler turns the entries of one file into nodes.
type compiler struct {
	sets map[string][]string
	errs []error
}

// add compiles an entry into a map of names; at says where, for errors.
func (c *compiler) add(into map[string]*node, parent *node, e entry, at string) {
	at += ": " + strings.Join(e.Names, ", ")
	fail := func(format string, args ...any) {
		c.errs = append(c.errs, fmt.Errorf(at+": "+format, args...))
	}
	n := &node{
		parent: parent, style: e.Style, options: map[string]*option{}, sticky: e.Sticky,
		most: -1, keys: map[string]role{}, ignore: map[string]bool{}, recursive: e.Recursive, ignorePrefix: e.IgnorePrefix,
		safe: e.Safe, launches: e.Launches, unless: e.Unless, subs: map[string]*node{},
	}
	switch e.Style {
	case "":
		n.style = styleGNU
	case styleGNU, styleLeading, styleSingle:
	default:
		fail("unknown style %q", e.Style)
	}
	switch e.Other {
	case "":
	case "harmless":
		n.harmless = true
	default:
		fail("other is %q, which is not harmless", e.Other)
	}
	specs := e.Options
	for _, set := range e.Sets {
		if _, ok := c.sets[set]; !ok {
			fail("there is no set of options %q in this file", set)
		}
		specs = append(specs, c.sets[set]...)
	}
	for _, spec := range specs {
		o, err := parseOption(spec)
		if err != nil {
			fail("option %q: %v", spec, err)
			continue
		}
		for _, s := range o.spellings {
			if n.options[s] != nil {
				fail("option %s is there twice", s)
			}
			n.options[s] = o
		}
	}
	var err error
	if n.operands, err = parseOperands(e.Operands); err != nil {
		fail("operands: %v", err)
	}
	if e.MaxOperands != nil {
		n.most = *e.MaxOperands
	}
	for key, text := range e.Keys {
		if n.keys[key], err = parseRole(text); err != nil {
			fail("keys: %v", err)
		}
	}
	for _, word := range e.Ignore {
		n.ignore[word] = true
	}
	if e.Implied != "" {
		r, err := parseRole(e.Implied)
		if err != nil || !r.file {
			fail("implied is %q, which is no access", e.Implied)
		}
		n.implied = &r.access
	}
	if e.Code != "" {
		if n.code = codeChecks[e.Code]; n.code == nil || e.Launches == "" {
			fail("code is %q: it names a check, and needs launches", e.Code)
		}
	}
	if e.Check != "" {
		n.follows = e.Check == "follows" || e.Check == "followsOther"
		if n.check = checks[e.Check]; n.check == nil {
			fail("check is %q, which is none", e.Check)
		}
	}
	for _, spelling := range e.Unless {
		if n.options[spelling] == nil {
			fail("unless names %s, which is no option of it", spelling)
		}
	}
	if e.Safe && e.Launches != "" && len(e.Unless) == 0 {
		fail("what launches something can't be safe")
	}
	if len(e.Names) == 0 {
		fail("an entry needs a name")
	}
	for _, name := range e.Names {
		if into[name] != nil {
			fail("%s is there twice", name)
		}
		into[name] = n
	}
	for _, sub := range e.Subcommands {
		c.add(n.subs, n, sub, at)
	}
}

// risky says whether some option of the node makes it unsafe.
func (n *node) risky() bool {
	if !n.harmless {
		return true
	}
	for _, o := range n.options {
		if o.unsafe || o.launches || o.writes || o.role.file && o.role.access == shell.AccessWrite {
			return true
		}
	}
	return false
}
