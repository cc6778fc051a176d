package protocol

import (
	"fmt"
	"strconv"
)

// Error says what is wrong with a document: the code of the error decision that
// it deserves, the field, and the problem with what to write instead.
type Error struct {
	Code    Code
	Field   string // such as action.targets[0].uri; empty: the document as a whole
	Problem string
}

// Error returns "field: problem".
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Problem
	}
	return e.Field + ": " + e.Problem
}

func invalid(field, format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Field: field, Problem: fmt.Sprintf(format, args...)}
}

func missing(field string) *Error {
	return invalid(field, "is required")
}

// maxQuoted keeps an error from repeating a whole document.
const maxQuoted = 60

func quote(s string) string {
	if len(s) > maxQuoted {
		s = s[:maxQuoted] + "…"
	}
	return strconv.QuoteToGraphic(s)
}
