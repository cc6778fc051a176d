// Package source reads the YAML of policy files: every value with its position
// and the path of its key, every mistake collected rather than the first one
// only. It knows nothing of what a policy means.
package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one thing wrong with a policy file: what, and what to write instead.
type Mistake struct {
	File         string
	Line, Column int    // from 1; Line 0: the file as a whole
	Path         string // of the key, such as zones[0].files.read; may be empty
	Problem      string
}

// String returns "file:line:column: key.path: problem".
func (m Mistake) String() string {
	var b strings.Builder
	b.WriteString(m.File)
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", m.Line, m.Column)
	}
	b.WriteString(": ")
	if m.Path != "" {
		b.WriteString(m.Path + ": ")
	}
	b.WriteString(m.Problem)
	return b.String()
}

// Mistakes are all the mistakes of a policy, as one error. The zero value is ready to use.
type Mistakes struct {
	List []Mistake
}

// Error returns a line for each mistake, in the order of the files and positions.
func (ms *Mistakes) Error() string {
	lines := make([]string, len(ms.List))
	for i, m := range ms.List {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

// Err returns the mistakes as an error, sorted within each file; nil where there are none.
func (ms *Mistakes) Err() error {
	if len(ms.List) == 0 {
		return nil
	}
	order := make(map[string]int)
	for _, m := range ms.List {
		if _, ok := order[m.File]; !ok {
			order[m.File] = len(order)
		}
	}
	slices.SortStableFunc(ms.List, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return ms
}

// Add notes a mistake in a file as a whole.
func (ms *Mistakes) Add(file, format string, args ...any) {
	ms.List = append(ms.List, Mistake{File: file, Problem: fmt.Sprintf(format, args...)})
}
