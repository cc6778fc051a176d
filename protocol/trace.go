package protocol

// Trace is the W3C trace context of a message, carried through to its answer
// and never judged. The zero value is none.
type Trace struct {
	Parent string // traceparent
	State  string // tracestate, only beside a Parent
}

const (
	traceParent = "traceparent"
	traceState  = "tracestate"

	// maxTraceState is a little over what the recommendation asks every
	// participant to carry.
	maxTraceState = 1024
)

// traceOf takes the trace out of headers or event attributes. One that is
// malformed is dropped, as W3C Trace Context says: it is no reason to refuse.
func traceOf(values map[string]string) Trace {
	return Trace{Parent: values[traceParent], State: values[traceState]}.valid()
}

// valid returns what may be sent on of t.
func (t Trace) valid() Trace {
	if !validTraceParent(t.Parent) {
		return Trace{}
	}
	if len(t.State) > maxTraceState || !printable(t.State) {
		t.State = ""
	}
	return t
}

// or returns t, or other where t is none.
func (t Trace) or(other Trace) Trace {
	if t.Parent == "" {
		return other
	}
	return t
}

// validTraceParent takes version-traceid-parentid-flags in lower-case
// hexadecimal; the ids are not all zero, and a later version may add fields.
func validTraceParent(s string) bool {
	const v0 = len("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if len(s) < v0 || s[2] != '-' || s[35] != '-' || s[52] != '-' || s[:2] == "ff" {
		return false
	}
	if len(s) > v0 && (s[:2] == "00" || s[v0] != '-' || len(s) > maxTraceState) {
		return false
	}
	return hexadecimal(s[:2]) && hexadecimal(s[3:35]) && hexadecimal(s[36:52]) && hexadecimal(s[53:55]) &&
		s[3:35] != "00000000000000000000000000000000" && s[36:52] != "0000000000000000" && printable(s)
}

func hexadecimal(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// printable keeps line ends, which would forge a header, out of what is sent on.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
