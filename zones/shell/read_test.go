package shell

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show writes a reading on lines: each command with what is special about it,
// then each opaque reason.
func show(r Reading) string {
	var lines []string
	for _, c := range r.Commands {
		var parts []string
		for _, w := range c.Words {
			parts = append(parts, showWord(w))
		}
		for _, rd := range c.Redirects {
			parts = append(parts, rd.Access.String()+":"+showWord(rd.Target))
		}
		for _, a := range c.Assigns {
			parts = append(parts, "+"+a.Name)
		}
		switch {
		case len(c.Dir.Either) > 0:
			parts = append(parts, fmt.Sprintf("@%q", c.Dir.Either))
		case c.Dir.Unknown:
			parts = append(parts, "@?")
		case len(c.Dir.Steps) > 0:
			parts = append(parts, "@"+strings.Join(c.Dir.Steps, ","))
		}
		if c.Function {
			parts = append(parts, "(function)")
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	for _, o := range r.Opaque {
		lines = append(lines, "opaque: "+o.Reason)
	}
	return strings.Join(lines, "\n")
}

func showWord(w Word) string {
	text := w.Text
	if strings.ContainsAny(text, " \t\n") || text == "" {
		text = "<" + text + ">"
	}
	if !w.Known {
		text = "¿" + text
		if w.Single {
			text += "¡"
		}
	}
	if w.Glob {
		text = "glob(" + text + ")"
	}
	if w.ValueTilde {
		text = "valuehome(" + text + ")"
	}
	if w.Tilde {
		text = "home(" + text + ")"
	}
	return text
}

var readings = []struct{ name, source, want string }{
	{"empty", "", ""},
	{"comment", "# rm -rf /\n", ""},
	{"one command", "ls -la", "ls -la"},
	{"lists", "a; b && c || d & e", "a\nb\nc\nd\ne"},
	{"pipe", "cat f | sort |& uniq", "cat f\nsort\nuniq"},
	{"quotes", `echo 'a b' "c d" e\ f "g"'h'i ""`, "echo <a b> <c d> <e f> ghi <>"},
	{"quoted text is no command", `echo "git push; rm -rf /" '$(rm x)'`, "echo <git push; rm -rf /> <$(rm x)>"},
	{"escapes in double quotes", `echo "a\"b\\c\d\$e"`, `echo a"b\c\d$e`},
	{"ansi-c", `echo $'a\tb\x41\101\'q\'' $'\u0041'`, "echo <a\tbAA'q'> A"},
	{"text that may be translated", `echo $"a" $'\u2603'`, `echo ¿$"a"¡ ¿$'\u2603'¡`},
	{"ansi-c that ends early", `echo $'a\0b' $'\cA'`, `echo ¿$'a\0b'¡ ¿$'\cA'¡`},
	{"split command word", `g"i"t pu\sh; r''m x`, "git push\nrm x"},
	{"line continuation", "git \\\npush --fo\\\nrce", "git push --force"},
	{"assignments only", "X=1 Y=2", ""},
	{"prefix assignments", "PATH=/evil ls", "ls +PATH"},
	{"assignments in force", "PATH=/evil; ls", "ls +PATH"},
	{"a loop carries an assignment back", "while true; do ls; PATH=.; done", "true +PATH\nls +PATH"},
	{"export", "export A=1 B; ls", "export A=1 B +A +B\nls +A +B"},
	{"export of an expansion", "export $(cat .env)", "export ¿<$(cat .env)>\ncat .env\nopaque: a declaration takes what it sets from an expansion"},
	{"export that the parser doesn't see", `\export "PATH=."; "read" "IFS"; ls`, "export PATH=. +PATH +IFS\nread IFS +PATH +IFS\nls +PATH +IFS"},
	{"the same of an expansion", `\export PATH="$x" $y`, "export ¿PATH=\"$x\"¡ ¿$y +PATH\nopaque: a declaration takes what it sets from an expansion"},
	{"export of a value", `export X="$(date)"`, "export ¿X=\"$(date)\" +X\ndate +X"},
	{"printf sets", "printf -vPATH .; ls", "printf -vPATH . +PATH\nls +PATH"},
	{"nameref", "declare -n p=PATH; p=.", "declare -n p=PATH +p +p\nopaque: a declaration makes one variable stand for another"},
	{"read sets", "read -r PATH <<< /evil; ls", "read -r PATH +PATH\nls +PATH"},
	{"arithmetic sets", "((PATH=1)); ls", "ls +PATH"},
	{"loop variable", `for f in a b; do echo "$f"; done`, `echo ¿"$f"¡ +f`},
	{"unquoted variable", "rm $x", "rm ¿$x"},
	{"every parameter", `rm "$@" "${a[@]}" "${a[0]}"`, `rm ¿"$@" ¿"${a[@]}" ¿"${a[0]}"¡`},
	{"variable command", "$x -rf /", "¿$x -rf /\nopaque: the command word is not known from the text"},
	{"pattern command", "/bin/r? x", "glob(/bin/r?) x\nopaque: the command word is a pattern"},
	{"command substitution", "echo $(rm x) `rm y`", "echo ¿<$(rm x)> ¿<`rm y`>\nrm x\nrm y"},
	{"substitution in quotes", `echo "a $(rm "b c")"`, `echo ¿<"a $(rm "b c")">¡` + "\nrm <b c>"},
	{"backslashes in backquotes", "echo `echo \\`rm x\\``", "echo ¿<`echo \\`rm x\\``>\necho ¿<`rm x\\`>\nrm x\nopaque: backslashes inside backquotes change how the text is read\nopaque: backslashes inside backquotes change how the text is read"},
	{"process substitution", "diff <(sort a) >(rm b)", "diff ¿<<(sort a)>¡ ¿<>(rm b)>¡\nsort a\nrm b"},
	{"substitution in an assignment", "x=$(rm y)", "rm y +x"},
	{"substitution in an array", "x=(a $(rm y))", "rm y +x"},
	{"substitution in arithmetic", "echo $((1+$(rm y)))", "echo ¿<$((1+$(rm y)))>\nrm y"},
	{"substitution in a test", "[[ -n $(rm y) ]]", "rm y"},
	{"substitution in an expansion", "echo ${x:-$(rm y)}", "echo ¿<${x:-$(rm y)}>\nrm y"},
	{"substitution in a case", "case $(a) in $(b)) c;; esac", "a\nb\nc"},
	{"substitution in a loop's words", "for x in $(a); do b; done", "a +x\nb +x"},
	{"prompt expansion", `echo "${x@P}"`, `echo ¿"${x@P}"¡` + "\nopaque: an expansion is read again as a prompt, which runs the commands in it"},
	{"arithmetic bait", `x='a[$(rm y)]'; echo $((x))`, "echo ¿$((x)) +x\nopaque: literal text looks made to be run by the evaluation of an arithmetic expression"},
	{"bait in an index", `((a['$(rm y)']++))`, "opaque: literal text looks made to be run by the evaluation of an arithmetic expression\nopaque: literal text looks made to be run by the evaluation of an arithmetic expression"},
	{"arithmetic or a subshell", "echo $((rm x); (rm y))", "opaque: it can't be parsed as bash: 1:12: not a valid arithmetic operator: `x`"},
	{"bait for test", `test -v 'a[$(rm y)]'`, "test -v <a[$(rm y)]>\nopaque: literal text looks made to be run by the evaluation of an arithmetic expression"},
	{"a regular expression is no bait", `[ -f x ] && grep '[a-z]$' x`, "[ -f x ]\ngrep [a-z]$ x"},
	{"extended glob", "ls @(a|b)", "ls ¿@(a|b)"},
	{"extended glob with an expansion", "ls @($(rm x))", "ls ¿<@($(rm x))>\nopaque: an extended glob has expansions that are not followed\nopaque: an expansion stands where it is not followed"},
	{"negated subshell read as a glob", "!(rm x)", "¿<!(rm x)>\nopaque: the command word is not known from the text"},
	{"here-document", "cat <<E\n$(rm x) `rm y`\nE\nls", "cat\nrm x\nrm y\nls"},
	{"quoted here-document", "cat <<'E'\n$(rm x)\nE\nls", "cat\nls"},
	{"a message in a here-document", "git commit -m \"$(cat <<'EOF'\nIt's `done` ($(now))\nEOF\n)\" && git push",
		"git commit -m ¿<\"$(cat <<'EOF'\nIt's `done` ($(now))\nEOF\n)\">¡\ncat\ngit push"},
	{"a file from a here-document", "cat > f <<'EOF'\nrm -rf /\nEOF", "cat write:f"},
	{"a loop that reads", "while read -r l; do echo \"$l\"; done < list", "read:list +l\nread -r l +l\necho ¿\"$l\"¡ +l"},
	{"here-string", `cat <<< "$(rm x)"`, "cat\nrm x"},
	{"redirections", "a <in >out 2>>log &>both <>rw >|clob", "a read:in write:out write:log write:both write:rw write:clob"},
	{"duplicated descriptors", "a 2>&1 >&- 3>&2- <&3", "a"},
	{"a file after >&", "a >& out", "a write:out"},
	{"an unknown redirection", `a > "$f" >& $g`, `a write:¿"$f"¡ write:¿$g`},
	{"streams", "a >/dev/null 2>/dev/stderr < /dev/fd/3", "a"},
	{"redirection of a group", "{ a; } > f", "write:f\na"},
	{"redirection alone", "> f", "write:f"},
	{"read by a substitution", "echo $(< f)", "echo ¿<$(< f)>\nread:f"},
	{"redirection into a process", "a > >(tee log)", "a\ntee log"},
	{"globs", `ls *.go a? [ab] 'x*' 'q*'* a[ [`, `ls glob(*.go) glob(a?) glob([ab]) x* glob(q\**) a[ [`},
	{"tilde", `ls ~ ~/x ~root '~' "~/x" \~ a~ ~"/x"`, `ls home(~) home(~/x) ¿~root¡ ~ ~/x ~ a~ ~/x`},
	{"quoted tilde-prefix", `ls ~\x/y`, "ls ~x/y"},
	{"tilde with another home", "HOME=/x; ls ~/a", "ls ¿~/a¡ +HOME"},
	{"tilde after =", `dd if=~/x of='~'/y c=a:~/z`, "dd valuehome(if=~/x) of=~/y ¿c=a:~/z¡"},
	{"braces", "ls {a,b}.go x{1..3} {a} {a,b", "ls a.go b.go x1 x2 x3 {a} ¿{a,b"},
	{"braces make the command", "{rm,-rf,x}", "rm -rf x"},
	{"braces before expansions", "ls {a,$x}", "ls a ¿{a,$x}"},
	{"odd sequences", "ls {a..Z} {1..2..1} {Z..a}", "ls ¿{a..Z} 1 2 ¿{Z..a}"},
	{"too many braces", "ls {1..9999}", "ls ¿{1..9999}\nopaque: a brace expansion makes too many words"},
	{"cd and", "cd sub && make", "cd sub\nmake @sub"},
	{"cd chain", "cd a && cd b && c", "cd a\ncd b @a\nc @a,b"},
	{"cd absolute", "cd a && cd /b && c", "cd a\ncd /b @a\nc @/b"},
	{"cd may fail", "cd a; b", "cd a\nb @[[\"a\"] []]"},
	{"cd or exit", "cd a || exit 1; b", "cd a\nexit 1\nb @a"},
	{"cd or a group that exits", "cd a || { echo no; exit 1; }\nb", "cd a\necho no\nexit 1\nb @a"},
	{"exit with too much", "cd a || exit 1 2; b", "cd a\nexit 1 2\nb @[[\"a\"] []]"},
	{"cd negated", "! cd a && b", "cd a\nb"},
	{"cd or", "cd a || b", "cd a\nb"},
	{"cd in a subshell", "(cd a && b); c", "cd a\nb @a\nc"},
	{"cd in a pipe", "cd a | b; c", "cd a\nb\nc"},
	{"cd in the background", "cd a & b", "cd a\nb"},
	{"cd in a substitution", "x=$(cd a && b); c", "cd a +x\nb +x @a\nc +x"},
	{"cd in if", "if cd a; then b; else c; fi; d", "cd a\nb @a\nc\nd @[[\"a\"] []]"},
	{"cd in a loop", "while a; do cd b; done; c", "a @?\ncd b @?\nc @?"},
	{"cd home", "cd && a; cd ~ && b; cd ~/x && c", "cd\na @~\ncd home(~) @[[\"~\"] []]\nb @~\ncd home(~/x) @[[\"~\"] []]\nc @~/x"},
	{"cd to a directory named ~", "cd '~' && a", "cd ~\na @./~"},
	{"cd that can't be followed", "cd - && a; cd $x && b; pushd c && d", "cd -\na @?\ncd ¿$x @?\nb @?\npushd c @?\nd @?"},
	{"cd too often", "cd a; cd b; cd c; d", "cd a\ncd b @[[\"a\"] []]\ncd c @[[\"a\" \"b\"] [\"b\"] [\"a\"] []]\nd @?"},
	{"cd home with another home", "HOME=/x; cd && a", "cd +HOME\na +HOME @?"},
	{"exit that may not be reached", "cd a || exit >f; b", "cd a\nexit write:f\nb @[[\"a\"] []]"},
	{"cd to an assignment", "cd a=~/b && c", "cd valuehome(a=~/b)\nc @?"},
	{"if not cd", "if ! cd a; then exit 1; fi; b", "cd a\nexit 1\nb @a"},
	{"cd with CDPATH", "CDPATH=/x; cd a && b; cd ./a", "cd a +CDPATH\nb +CDPATH @?\ncd ./a +CDPATH @?"},
	{"cd through command", "command cd a && b", "command cd a\nb @?"},
	{"command -v moves nothing", "command -v cd && b", "command -v cd\nb"},
	{"cd in a function", "f() { cd a; }; f; b", "cd a @?\nf (function)\nb @?"},
	{"a function", "f() { rm \"$1\"; }; f x", "rm ¿\"$1\"¡\nf x (function)"},
	{"a function that may not be", "if a; then f() { b; }; fi; f", "a\nb\nf"},
	{"a call before the declaration", "f; f() { a; }", "f\na"},
	{"unset", "f() { a; }; unset -f f; f", "a +f\nunset -f f +f\nf +f"},
	{"fork bomb", ":(){ :|:& };:", ":\n:\n: (function)\nopaque: the function : calls itself"},
	{"mutual recursion", "f() { g; }; g() { f; }", "g\nf (function)\nopaque: the function f calls itself\nopaque: the function g calls itself"},
	{"a function named like a program", "ls() { rm x; }; ls", "rm x\nls (function)"},
	{"a function named like a builtin", "cd() { :; }; cd a && b", ": @?\ncd a @? (function)\nb @?\nopaque: a function takes the name of cd, on which the rest of the source relies"},
	{"prefix of a call of a function", "f() { ls; }; PATH=. f", "ls +PATH\nf +PATH +PATH (function)"},
	{"keywords", "time -p a; ! b; coproc c; coproc N { d; }; coproc e f", "a\nb\nc\nd\ne f"},
	{"conditionals", "if a; then b; elif c; then d; else e; fi; case x in y) f;; esac; until g; do h; done; select i in j; do k; done",
		"a +i\nb +i\nc +i\nd +i\ne +i\nf +i\ng +i\nh +i\nk +i"},
	{"alias", "alias ls='rm -rf'", "alias <ls=rm -rf>\nopaque: an alias changes how the rest is read"},
	{"set", "set -euo pipefail; set -- a b; ls", "set -euo pipefail\nset -- a b\nls"},
	{"set that changes reading", "set +B; ls", "set +B\nls\nopaque: set changes how the rest is read"},
	{"set from an expansion", "set $x", "set ¿$x\nopaque: set changes how the rest is read"},
	{"shopt", "shopt -s nullglob; shopt -s expand_aliases", "shopt -s nullglob\nshopt -s expand_aliases\nopaque: shopt changes how the rest is read"},
	{"empty command word", `"" x`, "<> x\nopaque: the command word is empty"},
	{"syntax error after a command", "rm x\n)", "rm x\nopaque: it can't be parsed as bash: 2:1: `)` can only be used to close a subshell"},
	{"a broken here-document", "<<0&  \n", "opaque: it can't be parsed as bash: 1:1: unclosed here-document `0`"},
	{"a comment that ends in a backslash", "ls # \\\ngit push -f", "ls git push -f\nopaque: a comment ends in a backslash, so that it is not clear where it ends"},
	{"the same with two", "ls # a \\\\\ngit push -f", "ls\ngit push -f\nopaque: a comment ends in a backslash, so that it is not clear where it ends"},
	{"a first comment that does", "# x \\\ngit push -f\nls", "git push -f\nls\nopaque: a comment ends in a backslash, so that it is not clear where it ends"},
	{"the last one that does", "ls\n# x \\\ngit push -f", "ls\ngit push -f\nopaque: a comment ends in a backslash, so that it is not clear where it ends"},
	{"a comment with a backslash in a substitution", "echo \"$(ls # \\\ngit push -f\n)\"", "echo ¿<\"$(ls # \\\ngit push -f\n)\">¡\nls git push -f\nopaque: a comment ends in a backslash, so that it is not clear where it ends"},
	{"a # that is no comment before a backslash", "curl -d 'a # b' \"c # d\" x#y \\\n -X POST; cat <<E\n # x \\\ny\nE", "curl -d <a # b> <c # d> x#y -X POST\ncat"},
	{"let and a pipe", "let 1|git push -f", "opaque: let has an operator outside of quotes, which ends it"},
	{"let and the background", "let x&git push", "opaque: let has an operator outside of quotes, which ends it"},
	{"let in quotes", "let 'x=1|2' y=3", ""},
	{"a prompt that runs", "PS4='$(rm x)'; set -x; ls", "set -x +PS4\nls +PS4\nopaque: the value of PS4 may be run by the shell"},
	{"a prompt in quotes", "declare 'PS4=$(rm x)'", "declare <PS4=$(rm x)> +PS4\nopaque: the value of PS4 may be run by the shell"},
	{"a prompt that is text", "PS4='+ '; ENV=prod make", "make +ENV +PS4"},
	{"what a shell reads first", "BASH_ENV=x ENV=./y make", "make +BASH_ENV +ENV\nopaque: the value of BASH_ENV may be run by the shell\nopaque: the value of ENV may be run by the shell"},
	{"NUL", "ls\x00", "opaque: the source has a NUL byte"},
	{"carriage return", "ls\r\n", "opaque: the source has a carriage return"},
	{"not UTF-8", "ls \xff", "opaque: the source is not valid UTF-8"},
}

func TestRead(t *testing.T) {
	for _, c := range readings {
		t.Run(c.name, func(t *testing.T) {
			if got := show(Read(c.source)); got != c.want {
				t.Errorf("Read(%q)\ngot:\n%s\nwant:\n%s", c.source, got, c.want)
			}
		})
	}
}

func TestArgv(t *testing.T) {
	got := show(Argv([]string{"rm", "$x", "*", "~", "a b", ""}))
	if want := "rm $x * ~ <a b> <>"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, argv := range [][]string{nil, {""}, {"a\x00"}, {"a\xff"}, {strings.Repeat("a", MaxSource+1)}, slices.Repeat([]string{"a"}, MaxWords+1)} {
		if r := Argv(argv); len(r.Opaque) != 1 || len(r.Commands) != 0 {
			t.Errorf("Argv of %d words: %s", len(argv), show(r))
		}
	}
}

func TestOffsets(t *testing.T) {
	const source = "ls; X=1 git  push >f && (echo \"$(rm x)\")"
	var got []string
	for _, c := range Read(source).Commands {
		got = append(got, source[c.Start:c.End])
		for _, w := range c.Words {
			got = append(got, "."+source[w.Start:w.End])
		}
	}
	want := []string{"ls", ".ls", "X=1 git  push >f", ".git", ".push", `echo "$(rm x)"`, ".echo", `."$(rm x)"`, "rm x", ".rm", ".x"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestLimits(t *testing.T) {
	deep := func(open, inner, closed string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(closed, n)
	}
	for _, c := range []struct{ name, within, beyond string }{
		{"source", "ls #" + strings.Repeat("x", MaxSource-4), "ls #" + strings.Repeat("x", MaxSource-3)},
		{"nesting of subshells", deep("( ", "a", ")", 90), deep("( ", "a", ")", MaxNesting+1)},
		{"nesting of substitutions", deep("echo $(", "a", ")", 90), deep("echo $(", "a", ")", MaxNesting+1)},
		{"nesting of keywords", deep("if a; then ", "b", "; fi", 90), deep("if a; then ", "b", "; fi", MaxNesting+1)},
		{"nesting in quotes", "ls '" + strings.Repeat("(", MaxNesting) + "'", "ls '" + strings.Repeat("(", MaxNesting+1) + "'"},
		{"brackets", "ls " + strings.Repeat("'[]'", MaxBrackets), "ls " + strings.Repeat("'[]'", MaxBrackets+1)},
		{"commands", strings.Repeat("a\n", MaxCommands), strings.Repeat("a\n", MaxCommands+1)},
		{"words", "a" + strings.Repeat(" b", MaxWords-1), "a" + strings.Repeat(" b", MaxWords)},
		{"assignments", strings.Repeat("a=1\n", MaxAssigns), strings.Repeat("a=1\n", MaxAssigns+1)},
		{"words of braces", "ls" + strings.Repeat(" {1..1000}", 8), "ls" + strings.Repeat(" {1..1000}", 9)},
		{"words of braces that are too many", "ls", "ls" + strings.Repeat(" {1..999999}", 5000)},
		{"brace words", "ls {1..1024}", "ls {1..1025}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := Read(c.within); len(r.Opaque) != 0 {
				t.Errorf("within the limit: %v", r.Opaque[0])
			}
			r := Read(c.beyond)
			if len(r.Opaque) == 0 {
				t.Fatal("beyond the limit: nothing opaque")
			}
			if len(r.Commands) > MaxCommands {
				t.Errorf("%d commands", len(r.Commands))
			}
		})
	}
	// The parser must survive the worst that the limits let through.
	for _, unit := range []string{"(", "$(", "{ ", "((", "((-", "$[", "${a[", "a=(", "`", "\"$(", "if ", "f() ", "a&&", "a|", "{1..99999} ", ">{1..99999} ", "a=1 b\n", "f(){ f\n}\n", "while a;do ", "$(cd a;", "!", "((a?", "{a,"} {
		Read(strings.Repeat(unit, MaxSource/len(unit)))
	}
}

func TestZeroValues(t *testing.T) {
	var a Access
	if a != AccessWrite {
		t.Error("the zero Access must be the strictest")
	}
	if w := (Word{}); w.Known || w.Single {
		t.Error("the zero Word must not be known")
	}
}
