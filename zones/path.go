package zones

import (
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MaxPath is the longest path that is judged, in bytes: the longest of the
// systems that we know of.
const MaxPath = 32767

// place is an absolute path in one spelling: cleaned by text, in NFC, without a
// slash at its end. The root is the empty string, so that every prefix of path
// elements of a place is a place.
type place string

// String returns the path as people write it.
func (p place) String() string {
	if p == "" {
		return "/"
	}
	return string(p)
}

// within says whether p is dir or lies below it.
func (p place) within(dir place) bool {
	return len(p) >= len(dir) && p[:len(dir)] == dir && (len(p) == len(dir) || p[len(dir)] == '/')
}

// parent returns the place above; false at the root.
func (p place) parent() (place, bool) {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return "", false
	}
	return p[:i], true
}

// surroundings is what a path is read against; each is a place or unknown.
type surroundings struct {
	cwd, home       place
	hasCwd, hasHome bool
	cwdWhy, homeWhy string // what is wrong with a cwd or a home that was given
	otherHome       place  // the policy's home
	hasOtherHome    bool

	// Where the provider resolves links: the cwd and the home as they were
	// written, since ".." after a link is not what the text says; the cwd with
	// its links resolved; and the homes, resolved.
	rawCwd, rawHome string
	realCwd         place
	hasRealCwd      bool
	realHomes       []place
	homesBuffer     [4]place
}

// raw returns a path that readPath could read: absolute, but otherwise as written.
func (s *surroundings) raw(text string) string {
	switch {
	case len(text) >= 5 && strings.EqualFold(text[:5], "file:"):
		rest := text[5:]
		if after, ok := strings.CutPrefix(rest, "//"); ok {
			_, p, _ := strings.Cut(after, "/")
			rest = "/" + p
		}
		decoded, _ := url.PathUnescape(rest) // readPath saw that it works
		return decoded
	case text[0] == '/':
		return text
	case text[0] == '~':
		return s.rawHome + text[1:]
	}
	return s.rawCwd + "/" + text
}

// readPath makes a path absolute. The problem says why that can't be done, in
// words that follow the name of the field.
func (s *surroundings) readPath(text string) (p place, problem string) {
	if len(text) >= 5 && strings.EqualFold(text[:5], "file:") {
		// A tool may take a URI wherever it takes a path. Read as text, it would
		// be a harmless-looking name below the cwd.
		return s.readURI(text)
	}
	if problem := malformed(text); problem != "" {
		return "", problem
	}
	switch {
	case text[0] == '/':
		return cleaned(text)
	case text[0] == '~':
		rest, ok := strings.CutPrefix(text, "~")
		if rest != "" && rest[0] != '/' {
			return "", "names another user's home (" + firstElement(text) + "), which is not known here; give the absolute path, or ./" + firstElement(text) + " for a file of that name"
		}
		if !ok || !s.hasHome {
			if s.homeWhy != "" {
				return "", "needs a home: " + s.homeWhy
			}
			return "", "begins with ~, and neither context.home nor the policy's home is set; give the absolute path"
		}
		return cleaned(string(s.home) + "/" + rest)
	}
	if windows(text) {
		return "", "is a Windows path; give an absolute path with slashes"
	}
	if !s.hasCwd {
		if s.cwdWhy != "" {
			return "", "is relative, and " + s.cwdWhy
		}
		return "", "is relative, and context.cwd is missing; give an absolute path or the cwd"
	}
	return cleaned(string(s.cwd) + "/" + text)
}

// readURI takes the path out of a file: URI, as RFC 8089 writes it.
func (s *surroundings) readURI(text string) (p place, problem string) {
	if len(text) > 3*MaxPath {
		return "", "is too long"
	}
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !strings.EqualFold(scheme, "file") {
		return "", "must be a file: URI, such as file:///repo/package.json; a plain path goes into path"
	}
	if strings.ContainsAny(rest, "?#") {
		return "", "has a query or a fragment; write ? as %3F and # as %23"
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		host, p, _ := strings.Cut(after, "/")
		if host != "" && !strings.EqualFold(host, "localhost") {
			return "", "names the host " + host + "; only files of this machine are judged: file:///…"
		}
		rest = "/" + p
	}
	if !strings.HasPrefix(rest, "/") {
		return "", "must hold an absolute path: file:///…"
	}
	if strings.Contains(strings.ToLower(rest), "%2f") {
		return "", "has an escaped slash (%2F), which programs read differently; write / between folders"
	}
	decoded, err := url.PathUnescape(rest)
	if err != nil {
		return "", "has a malformed percent escape"
	}
	if problem := malformed(decoded); problem != "" {
		return "", problem
	}
	if windows(decoded[1:]) {
		return "", "holds a Windows path; only paths with slashes and no drive are judged"
	}
	return cleaned(decoded)
}

func malformed(text string) string {
	switch {
	case text == "":
		return "is empty"
	case len(text) > MaxPath:
		return "is too long"
	case strings.IndexByte(text, 0) >= 0:
		return "has a NUL byte"
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	}
	return ""
}

// windows knows drives and UNC names. Elsewhere a backslash is a character like
// any other.
func windows(text string) bool {
	if strings.HasPrefix(text, `\\`) {
		return true
	}
	return len(text) >= 2 && text[1] == ':' && ('a' <= text[0]|0x20 && text[0]|0x20 <= 'z') &&
		(len(text) == 2 || text[2] == '\\' || text[2] == '/')
}

func firstElement(text string) string {
	first, _, _ := strings.Cut(text, "/")
	return first
}

// cleaned takes an absolute path to its one spelling, where the text says what
// the path is.
func cleaned(absolute string) (p place, problem string) {
	if upFromLink(absolute) {
		return "", `goes up with ".." from a link of the system, which does not lead where the text says; give the path without ".."`
	}
	return clean(absolute), ""
}

// clean takes an absolute path to its one spelling.
func clean(absolute string) place {
	p := absolute
	if !isClean(p) {
		p = path.Clean(p)
	}
	if p == "/" {
		return ""
	}
	return place(norm.NFC.String(p)) // returns p itself where it is in NFC
}

// isClean is true for most paths, and spares them path.Clean's walk.
func isClean(p string) bool {
	for i := 0; i < len(p); i++ {
		if p[i] != '/' {
			continue
		}
		if i+1 == len(p) || p[i+1] == '/' {
			return false
		}
		if p[i+1] == '.' {
			rest := p[i+2:]
			if rest == "" || rest[0] == '/' || rest == "." || strings.HasPrefix(rest, "./") {
				return false
			}
		}
	}
	return true
}
