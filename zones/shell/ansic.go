package shell

import (
	"strings"
	"unicode/utf8"
)

// ansiC decodes the inside of $'…'. It is not ok where bash's own result
// depends on the locale or ends early.
func ansiC(text string) (value string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		c := text[i]
		if at := strings.IndexByte(`abeEfnrtv\'"?`, c); at >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[at])
			continue
		}
		base, most := 16, 0
		switch c {
		case 'x':
			most = 2
		case 'u':
			most = 4
		case 'U':
			most = 8
		case 'c':
			return "", false
		default:
			if c < '0' || c > '7' {
				b.WriteByte('\\')
				b.WriteByte(c)
				continue
			}
			base, most = 8, 3
			i--
		}
		n, digits := 0, 0
		for digits < most && i+1 < len(text) {
			d := strings.IndexByte("0123456789abcdef", lower(text[i+1]))
			if d < 0 || d >= base {
				break
			}
			n = n*base + d
			digits++
			i++
		}
		switch {
		case digits == 0, n == 0:
			return "", false
		case most == 2 || base == 8:
			b.WriteByte(byte(n))
		case n > 0x7f: // depends on the locale
			return "", false
		default:
			b.WriteByte(byte(n))
		}
	}
	return b.String(), utf8.ValidString(b.String())
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
