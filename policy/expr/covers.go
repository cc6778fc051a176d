package expr

import (
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Covers says whether a path is dir or below it. Both are read as text: `.`, `..`
// and doubled slashes are resolved, elements are compared whole and in NFC, and
// links are not followed. It is false where one is not absolute, or has a NUL
// byte: where such a path leads can't be known.
func Covers(dir, file string) bool {
	d, ok := clean(dir)
	if !ok {
		return false
	}
	f, ok := clean(file)
	if !ok {
		return false
	}
	return d == "/" || f == d || len(f) > len(d) && f[len(d)] == '/' && f[:len(d)] == d
}

func clean(p string) (string, bool) {
	if !strings.HasPrefix(p, "/") || strings.IndexByte(p, 0) >= 0 {
		return "", false
	}
	return norm.NFC.String(path.Clean(p)), true
}
