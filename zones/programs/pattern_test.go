package programs

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
	"pgregory.net/rapid"
)

// The want of a match: any, plainly and surely, each a letter or a dash.
var matches = []struct{ pattern, source, want string }{
	{"git push", "git push", "aps"},
	{"git push", "git push origin main", "aps"},
	{"git push", "git -C x push origin", "aps"},
	{"git push", "/usr/bin/git push", "aps"},
	{"git push", "./git push", "ap-"},
	{"git push", "/usr//bin/../bin/git push", "aps"},
	{"git push", "~/bin/git -C x push", "ap-"},
	{"git push --force", "/usr/lib/git-core/git-push -f", "ap-"},
	{"./deploy.sh", "/repo/deploy.sh", "ap-"},
	{"cargo publish", "cargo +nightly publish", "aps"},
	{"./git push", "git push", "---"},
	{"./deploy.sh prod", "./deploy.sh prod now", "aps"},
	{"git push", `g"i"t pu\sh`, "aps"},
	{"git push", "git stash push", "---"},
	{"git push", "git commit -m push", "---"},
	{"git push", "git -C push status", "---"},
	{"git push", "echo git push", "---"},
	{"git push", "git", "---"},
	{"git push", "gitpush", "---"},
	{"git push", "git pushy", "---"},
	{"git", "git push", "aps"},
	{"git push", "git -- push", "aps"},
	// Options that steer what a granted subcommand does.
	{"git push", "git -c core.sshCommand=x push", "ap-"},
	{"git -c * push", "git -c a=b push", "aps"},
	{"git push", "git --frob push", "ap-"},
	{"git push", "git --frob x push", "ap-"},

	// Flags.
	{"git push --force", "git push --force", "aps"},
	{"git push --force", "git push origin main -f", "aps"},
	{"git push --force", "git push -uf origin", "aps"},
	{"git push -f", "git push --force", "aps"},
	{"git push --force", "git push --force-with-lease", "---"},
	{"git push --force", "git push --forc", "ap-"},
	{"git push --force", "git push", "---"},
	{"git push --force", "git push -- --force", "---"},
	{"git push --force", "git push -o --force", "---"},
	{"git commit --amend", "git commit -m --amend", "---"},
	{"git push --force", "git push --force --no-force", "ap-"},
	{"git push --force-with-lease", "git push --force", "---"},
	{"rm -rf *", "rm -rf x", "aps"},
	{"rm -rf *", "rm -fr x y", "aps"},
	{"rm -rf *", "rm -f x -R", "aps"},
	{"rm -rf *", "rm --recursive --force x", "aps"},
	{"rm -rf *", "rm -rf", "---"},
	{"rm -rf *", "rm -r x", "---"},
	{"rm -rf /", "rm -rf -- /", "aps"},
	{"frob -rf", "frob -f -r", "ap-"},
	{"frob -rf", "frob -rf", "aps"},
	{"frob -r", "frob -rf", "ap-"},
	{"frob -rf", "frob -r", "---"},
	{"frob --long", "frob -long", "---"},
	{"git log --format=x", "git log --format=x", "aps"},
	{"git log --format=x", "git log --format x", "aps"},
	{"git log --format=x", "git log --format=y", "---"},
	{"git log --format", "git log --format=y", "aps"},
	{"frob --opt=x", "frob --opt=x", "aps"},
	{"frob --opt=x", "frob --opt x", "a--"},
	{"git checkout -b *", "git checkout -b new", "aps"},

	// Programs that aren't known: an option may take the next word.
	{"frob push", "frob push -x y", "aps"},
	{"frob push", "frob -x push", "ap-"},
	{"frob push", "frob -x y push", "ap-"},
	{"frob push", "frob -x=y push", "aps"},
	{"frob push", "frob x push", "---"},
	{"frob a b", "frob -x a -y b", "ap-"},

	// Stars.
	{"*", "anything at all", "aps"},
	{"* push", "git push", "aps"},
	{"* push", "git pull", "---"},
	{"npm * x", "npm run x", "aps"},
	{"npm * x", "npm x", "---"},
	{"curl *", "curl", "---"},
	{"curl *", "curl -L https://x", "aps"},
	{"curl '*'", "curl x", "---"},

	// Words that aren't known.
	{"git push", "git $x push", "a--"},
	{"git push", "git $x", "a--"},
	{"git stash push", "git $x", "a--"},
	{"git stash push", `git "$x"`, "---"},
	{"git push", `git "$x" main`, "a--"},
	{"git push", `git "pu$x"`, "a--"},
	{"git push", `git "st$x"`, "---"},
	{"git push", "git commit -m \"$x\"", "---"},
	{"git push", "git push $x", "aps"},
	{"git push --force", "git push origin $x", "a--"},
	{"git push --force", `git push origin "$x"`, "a--"},
	{"git push --force", `git push origin "v$x"`, "---"},
	{"git commit --amend", `git commit -m "$x"`, "---"},
	{"git push", "$x push", "---"},
	{"* push", "$x push", "---"},
	{"rm *", `rm "x/$y"`, "aps"},
	{"rm *", `rm "$y"`, "ap-"},
	{"rm *", "rm *.go", "ap-"},
	{"git push", "git pu*", "a--"},
}

func TestMatches(t *testing.T) {
	for _, c := range matches {
		t.Run(c.pattern+" on "+c.source, func(t *testing.T) {
			p, err := ParsePattern(c.pattern)
			if err != nil {
				t.Fatal(err)
			}
			words := command(t, c.source)
			got := []byte("---")
			for i, fits := range []bool{p.MatchesAny(words), p.MatchesPlainly(words), p.MatchesSurely(words)} {
				if fits {
					got[i] = "aps"[i]
				}
			}
			if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestParsePattern(t *testing.T) {
	for text, literals := range map[string]int{
		"git push": 2, "git push --force": 3, "rm -rf *": 2, "*": 0, `"a b" c`: 2, "git -C * push": 3, "rm '*'": 2, "a -- b": 2,
	} {
		p, err := ParsePattern(text)
		if err != nil || p.Literals() != literals || p.String() != text {
			t.Errorf("%q: %d literals, want %d; %v", text, p.Literals(), literals, err)
		}
	}
	for _, text := range []string{
		"", "  ", "a; b", "a && b", "curl * | sh", "a > b", "a $x", "a $(b)", "a *.go", "a {b,c}", "a 'b", "-f a", "--force", "X=1 a", "# a", "a ''", "a &", "(a)", "a\nb",
	} {
		p, err := ParsePattern(text)
		if !errors.Is(err, ErrPattern) {
			t.Errorf("%q: got %v, want an error", text, err)
		}
		if p.MatchesAny(command(t, "a b")) {
			t.Errorf("%q: a broken pattern matches", text)
		}
	}
}

func TestZeroPattern(t *testing.T) {
	var p Pattern
	words := command(t, "git push")
	if p.MatchesAny(words) || p.MatchesSurely(words) || p.Literals() != 0 {
		t.Error("the zero Pattern matches")
	}
	star, _ := ParsePattern("*")
	if star.MatchesAny(nil) || star.MatchesSurely(nil) {
		t.Error("* matches no words at all")
	}
}

// A sure match is a plain one, and a plain one is a possible one; hiding words
// never makes a match sure, nor an existing match impossible.
func TestMatchesAreOrdered(t *testing.T) {
	vocabulary := []string{"git", "frob", "push", "rm", "-f", "-C", "--force", "--forc", "-x", "--", "x", "-rf", "*", "--opt=x"}
	hidden := []string{"$x", `"$x"`, `"p$x"`}
	rapid.Check(t, func(t *rapid.T) {
		p, err := ParsePattern(strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 4).Draw(t, "pattern"), " "))
		if err != nil {
			t.Skip()
		}
		source := rapid.SliceOfN(rapid.SampledFrom(slices.Concat(vocabulary[:12], hidden)), 1, 6).Draw(t, "words")
		r := shell.Read("x " + strings.Join(source, " "))
		words := r.Commands[0].Words[1:]
		any, plain, sure := p.MatchesAny(words), p.MatchesPlainly(words), p.MatchesSurely(words)
		if sure && !plain || plain && !any {
			t.Fatalf("%s on %q: any %v, plainly %v, surely %v", p, source, any, plain, sure)
		}
		if !plain || len(words) < 2 {
			return
		}
		i := rapid.IntRange(1, len(words)-1).Draw(t, "hide")
		words = slices.Clone(words)
		words[i] = shell.Word{Text: "$hidden"}
		if !p.MatchesAny(words) {
			t.Fatalf("%s on %q: hiding word %d lost the match", p, source, i)
		}
	})
}
