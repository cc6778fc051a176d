package zones

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"github.com/guardrails-provider/guardrails-provider/protocol"
	"github.com/guardrails-provider/guardrails-provider/zones/programs"
)

// Config is what zones are compiled from. The zero value has no zones and no opinion.
type Config struct {
	Zones           []Zone
	Home            string // what ~ means when a check gives no context.home; empty: nothing
	ResolveSymlinks bool   // resolve links on this machine, too
}

// Zone is one zone as a policy file writes it. It has Path or Match.
type Zone struct {
	ID       string
	Path     string   // absolute, ~ or ~/…, or "." for the check's cwd
	Match    []string // globs: absolute, ~/…, or **/…
	Protect  bool     // not outranked by anything
	Files    Files
	Commands *Commands
	Reason   string // said with every ask and block
}

// Files is what a zone says of operations on files: "*" stands for those not
// named. nil is no opinion, and so is an operation that nothing stands for.
type Files map[string]protocol.Verdict

// Mode is what a zone says of a command. The zero value asks.
type Mode uint8

// The modes. SafeOnly allows what is known to only read and asks for the rest.
const (
	ModeAsk Mode = iota
	ModeAllow
	ModeSafeOnly
	ModeBlock
)

// strictness orders modes for ties: block > ask > safe-only > allow.
func (m Mode) strictness() int {
	switch m {
	case ModeAllow:
		return 0
	case ModeSafeOnly:
		return 1
	case ModeAsk:
		return 2
	}
	return 3
}

// ParseMode reads allow, safe-only, ask or block.
func ParseMode(text string) (Mode, error) {
	switch text {
	case "allow":
		return ModeAllow, nil
	case "safe-only":
		return ModeSafeOnly, nil
	case "ask":
		return ModeAsk, nil
	case "block":
		return ModeBlock, nil
	}
	return ModeAsk, fmt.Errorf("must be allow, safe-only, ask or block, not %q", text)
}

// Commands is what a zone says of the commands that run in it. The pattern with
// the most literal words wins, among equals the stricter; where none matches,
// Default. HasDefault false: no opinion on what no pattern matches.
type Commands struct {
	Default    Mode
	HasDefault bool
	Rules      []CommandRule
}

// CommandRule says what becomes of commands that match a pattern.
type CommandRule struct {
	Pattern programs.Pattern
	Mode    Mode
}

// zone is a compiled zone.
//
// What a file check reads stands first, the id once more: with many zones each
// line of memory is one that no cache holds.
type zone struct {
	order int // in the file
	ID    string
	files filesTable
	Zone
}

// filesTable is Files by operation, so that a look-up hashes nothing.
type filesTable [len(fileOps)]protocol.Verdict

var fileOps = [...]string{protocol.OpRead, protocol.OpWrite, protocol.OpDelete, protocol.OpList, protocol.OpStat}

func opIndex(op string) int {
	for i := range fileOps {
		if fileOps[i] == op {
			return i
		}
	}
	return -1
}

func (f Files) table() (t filesTable) {
	for i, op := range fileOps {
		if v, ok := f[op]; ok {
			t[i] = v
		} else {
			t[i] = f["*"]
		}
	}
	return t
}

// CheckPath says what is wrong with a zone's path, and what to write instead.
func CheckPath(text string) error {
	if text == "." {
		return nil
	}
	_, _, err := splitHome(text, "path")
	if strings.ContainsAny(text, "*?") && !strings.Contains(text, "\\") {
		err = fmt.Errorf("%q is a pattern; write it under match", text)
	}
	if err == nil && hasUp(text) {
		err = fmt.Errorf("%q has the element \"..\"; write the path that it leads to", text)
	}
	return err
}

// CheckHome says what is wrong with a home.
func CheckHome(text string) error {
	if text == "" || malformed(text) != "" || strings.ContainsAny(text, "\r\n") || !path.IsAbs(text) || hasUp(text) {
		return fmt.Errorf("must be an absolute path such as /home/dev, not %q", text)
	}
	return nil
}

// hasUp says whether a path has an element "..", which below a home or a link
// is not what it looks like.
func hasUp(text string) bool {
	for element := range strings.SplitSeq(text, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

// CheckGlob says what is wrong with a pattern of match, and what to write instead.
func CheckGlob(text string) error {
	rest := text
	if !strings.HasPrefix(text, "**/") {
		var err error
		if rest, _, err = splitHome(text, "pattern"); err != nil {
			return err
		}
	}
	if !doublestar.ValidatePattern(rest) {
		return fmt.Errorf("%q is not a valid glob; close every [ and {, and end no pattern in a backslash", text)
	}
	if rest == "/" {
		return fmt.Errorf("%q is one folder; write it under path, or %s for all that is in it", text, strings.TrimSuffix(text, "/")+"/**")
	}
	for _, written := range alternatives(rest) {
		for element := range strings.SplitSeq(strings.TrimPrefix(written, "/"), "/") {
			if element == "" || element == "." || element == ".." {
				return fmt.Errorf("%q has the element %q, which no path has once it is resolved; take it out", text, element)
			}
		}
	}
	return nil
}

// splitHome takes ~ off: the rest is absolute, or below a home.
func splitHome(text, what string) (rest string, home bool, err error) {
	rest = text
	if strings.HasPrefix(text, "~") {
		rest, home = text[1:], true
		if rest == "" {
			rest = "/"
		}
		if rest[0] != '/' {
			return "", false, fmt.Errorf("%q names another user's home; write the absolute %s", text, what)
		}
	}
	if problem := malformed(rest); problem != "" {
		return "", false, fmt.Errorf("%q %s", text, problem)
	}
	if strings.ContainsAny(text, "\r\n") {
		return "", false, fmt.Errorf("%q has a line break; write it on one line, without | or >", text)
	}
	if windows(rest) {
		return "", false, fmt.Errorf("%q is a Windows path; write an absolute %s with slashes", text, what)
	}
	if rest[0] != '/' {
		example := "/repo, ~/workspace or \".\""
		if what == "pattern" {
			example = "/repo/**, ~/.ssh/** or **/.env"
		}
		return "", false, fmt.Errorf("%q is relative; write an absolute %s, such as %s", text, what, example)
	}
	return rest, home, nil
}

// Set is a compiled set of zones: immutable, and safe for concurrent use. The
// zero Set has no zones.
type Set struct {
	protected, open class
	zones           int
	home            place
	hasHome         bool
	resolve         func(string) (place, error) // nil: links are not resolved
}

// class is all zones of one rank, by what their paths are relative to.
type class struct {
	absolute, homely index
	cwd              []*zone // path "."
}

// Compile makes a Set. It fails where CheckPath or CheckGlob would, or where a
// zone has neither path nor match.
func Compile(cfg Config) (*Set, error) {
	s := &Set{zones: len(cfg.Zones)}
	if cfg.ResolveSymlinks {
		s.resolve = resolveLinks
	}
	if cfg.Home != "" {
		if err := CheckHome(cfg.Home); err != nil {
			return nil, fmt.Errorf("home: %w", err)
		}
		s.home, s.hasHome = clean(cfg.Home), true
	}
	compiled := make([]zone, len(cfg.Zones))
	for i, source := range together(cfg.Zones) {
		z := &compiled[i]
		*z = zone{Zone: source, ID: source.ID, order: i, files: source.Files.table()}
		c := &s.open
		if z.Protect {
			c = &s.protected
		}
		if err := s.add(c, z); err != nil {
			return nil, fmt.Errorf("zone %q: %w", z.ID, err)
		}
		// What was compiled is let go: with many zones the collector's work is what
		// a check pays for.
		z.Path, z.Match, z.Files = "", nil, nil
	}
	s.protected.absolute.finish()
	s.protected.homely.finish()
	s.open.absolute.below, s.open.homely.below = nil, nil // asked of protected zones only
	return s, nil
}

// together returns the zones with their texts in one piece of memory, and what
// only names a mode shared: the collector looks at every object that is kept, and
// each check pays for its share of that.
func together(zones []Zone) []Zone {
	var all strings.Builder
	for i := range zones {
		all.WriteString(zones[i].ID)
		all.WriteString(zones[i].Path)
	}
	rest := all.String()
	take := func(text *string) {
		n := len(*text)
		*text, rest = rest[:n], rest[n:]
	}
	var plain [ModeBlock + 1]Commands
	for mode := range plain {
		plain[mode] = Commands{Default: Mode(mode), HasDefault: true}
	}
	zones = slices.Clone(zones)
	for i := range zones {
		z := &zones[i]
		take(&z.ID)
		take(&z.Path)
		if c := z.Commands; c != nil && c.HasDefault && len(c.Rules) == 0 && c.Default <= ModeBlock {
			z.Commands = &plain[c.Default]
		}
	}
	return zones
}

func (s *Set) add(c *class, z *zone) error {
	switch {
	case z.Path == "" && len(z.Match) == 0:
		return fmt.Errorf("has neither path nor match")
	case z.Path == ".":
		c.cwd = append(c.cwd, z)
	case z.Path != "":
		if err := CheckPath(z.Path); err != nil {
			return err
		}
		rest, home, _ := splitHome(z.Path, "path")
		at := clean(rest)
		if home {
			c.homely.addPath(at, z)
			break
		}
		c.absolute.addPath(at, z)
		if s.resolve != nil {
			// A resolved target must find its zone under the resolved name, too.
			if real, err := s.resolve(rest); err == nil && real != at {
				c.absolute.addPath(real, z)
			}
		}
	}
	for _, text := range z.Match {
		if err := CheckGlob(text); err != nil {
			return err
		}
		text = norm.NFC.String(text)
		if strings.HasPrefix(text, "**/") {
			c.absolute.addGlob("/"+text, z)
			continue
		}
		rest, home, _ := splitHome(text, "pattern")
		if home {
			c.homely.addGlob(rest, z)
			continue
		}
		c.absolute.addGlob(rest, z)
		if s.resolve != nil {
			prefix, tail := split(rest)
			if real, err := s.resolve(prefix.String()); err == nil && real != prefix {
				c.absolute.addGlob(escape(string(real))+tail, z)
			}
		}
	}
	return nil
}
