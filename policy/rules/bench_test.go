package rules

import (
	"fmt"
	"strings"
	"testing"
)

func manyMaps(form string) string {
	var b strings.Builder
	for i := range 70 {
		fmt.Fprintf(&b, form+"\n", i)
	}
	return b.String()
}

func BenchmarkName(b *testing.B) {
	command := "cd build && git -C sub push origin main --set-upstream 2>&1 | tee push.log"
	for _, c := range []struct{ name, text, tool string }{
		{"no map line", "", "bash"},
		{"another tool", manyMaps(`map sql.query /x%d/ as y`), "bash"},
		{"70 regexes", manyMaps(`map bash.command /\bgit\s+verb%d\b/ as y`), "bash"},
		{"70 regexes, any case", manyMaps(`map bash.command /(?i)\bgit\s+verb%d\b/ as y`), "bash"},
		{"70 words", manyMaps(`map bash.command verb%d as y`), "bash"},
		{"70 quoted", manyMaps(`map bash.command "git verb%d" as y`), "bash"},
		{"1 quoted", `map bash.command "git push" as push`, "bash"},
		{"an action", "block bash.go", "bash"},
	} {
		b.Run(c.name, func(b *testing.B) {
			n := NewNamer(nil, parse(b, c.text))
			check := bash(command)
			var got Names
			b.ReportAllocs()
			for b.Loop() {
				n.Name(check, &got)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	text := manyMaps("require a%d before b\nlimit c to 3 per session\n"[:22])
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Parse(text)
	}
}
