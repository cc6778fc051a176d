package petri

import (
	"encoding/binary"
	"fmt"
	"strconv"
)

// Marking is how many tokens each place of a net holds. It is an immutable
// value: comparable with ==, usable as a key of a map, safe for concurrent use.
// Equal markings of a net are equal values. The zero value is a marking of no
// net: whoever forgets to fill one in gets an error and not an empty net.
type Marking struct {
	// A byte for the width (1, 2 or 4), then so many bytes a place, little
	// endian. The width is the least that holds every place, which makes the
	// form canonical; nearly every marking takes one byte a place.
	s string
}

// IsZero reports whether the marking is the zero value.
func (m Marking) IsZero() bool { return m.s == "" }

func (m Marking) width() int { return int(m.s[0]) }

// places returns of how many places it is a marking, -1 for the zero value.
func (m Marking) places() int {
	if m.s == "" {
		return -1
	}
	return (len(m.s) - 1) / m.width()
}

func (m Marking) at(place int) int {
	switch w := m.width(); w {
	case 1:
		return int(m.s[1+place])
	case 2:
		i := 1 + 2*place
		return int(m.s[i]) | int(m.s[i+1])<<8
	default:
		i := 1 + 4*place
		return int(m.s[i]) | int(m.s[i+1])<<8 | int(m.s[i+2])<<16 | int(m.s[i+3])<<24
	}
}

// decode appends the tokens of each place to into.
func (m Marking) decode(into []int) []int {
	for i, n := 0, m.places(); i < n; i++ {
		into = append(into, m.at(i))
	}
	return into
}

// encode makes a marking of tokens within the limit.
func encode(v []int) Marking {
	width, most := 1, 0
	for _, tokens := range v {
		most = max(most, tokens)
	}
	if most > 0xffff {
		width = 4
	} else if most > 0xff {
		width = 2
	}
	var room [128]byte
	b := append(room[:0], byte(width))
	for _, tokens := range v {
		switch width {
		case 1:
			b = append(b, byte(tokens))
		case 2:
			b = binary.LittleEndian.AppendUint16(b, uint16(tokens))
		default:
			b = binary.LittleEndian.AppendUint32(b, uint32(tokens))
		}
	}
	return Marking{string(b)}
}

// MarshalBinary returns the marking in its compact form, a byte more than the
// net has places as long as none holds more than 255 tokens. The form does not
// name the net: store it under the net's name and version.
func (m Marking) MarshalBinary() ([]byte, error) { return []byte(m.s), nil }

// UnmarshalBinary reads what MarshalBinary wrote, and refuses what no marking looks like.
func (m *Marking) UnmarshalBinary(data []byte) error {
	if len(data) == 0 {
		*m = Marking{}
		return nil
	}
	read := Marking{string(data)}
	if w := read.width(); w != 1 && w != 2 && w != 4 || (len(data)-1)%w != 0 || (len(data)-1)/w > MaxPlaces {
		return fmt.Errorf("%w: malformed", ErrMarking)
	}
	v := read.decode(nil)
	for _, tokens := range v {
		if tokens > MaxTokens {
			return fmt.Errorf("%w: %w", ErrMarking, ErrOverflow)
		}
	}
	if encode(v) != read {
		return fmt.Errorf("%w: not in its shortest form", ErrMarking)
	}
	*m = read
	return nil
}

// Accepts reports whether a marking has as many places as the net.
func (n *Net) Accepts(m Marking) bool { return m.places() == len(n.places) }

func (n *Net) check(m Marking) error {
	if !n.Accepts(m) {
		return fmt.Errorf("net %q: %w: it has %d places, not %d", n.name, ErrMarking, len(n.places), max(m.places(), 0))
	}
	return nil
}

// MarkingOf makes a marking from tokens by place. Places that are left out hold
// none. The error names a place that the net does not have or a number that no
// place holds. Nothing fires.
func (n *Net) MarkingOf(tokens map[string]int) (Marking, error) {
	v := make([]int, len(n.places))
	for name, k := range tokens {
		p, ok := n.placeIndex[name]
		if !ok {
			return Marking{}, fmt.Errorf("net %q: %w: it has no place %q", n.name, ErrMarking, name)
		}
		if k < 0 || k > MaxTokens {
			return Marking{}, fmt.Errorf("net %q: %w: %d tokens in %q", n.name, ErrMarking, k, name)
		}
		v[p] = k
	}
	return encode(v), nil
}

// Tokens returns a marking by place, every place present; nil for a marking of
// another net. The caller owns the map.
func (n *Net) Tokens(m Marking) map[string]int {
	if !n.Accepts(m) {
		return nil
	}
	tokens := make(map[string]int, len(n.places))
	for i, name := range n.places {
		tokens[name] = m.at(i)
	}
	return tokens
}

func itoa(i int) string { return strconv.Itoa(i) }
