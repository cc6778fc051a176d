package programs

import (
	"strings"
	"testing"

	"github.com/guardrails-provider/guardrails-provider/zones/shell"
)

// command reads the one command of a source.
func command(t *testing.T, source string) []shell.Word {
	t.Helper()
	r := shell.Read(source)
	if len(r.Commands) == 0 {
		t.Fatalf("%q has no command", source)
	}
	return r.Commands[0].Words
}

// show tells a description in one line: safe, known or unknown, opaque, files.
func show(d Description) string {
	out := []string{"unknown"}
	switch {
	case d.Safe:
		out[0] = "safe"
	case d.Known:
		out[0] = "known"
	}
	if d.Opaque != "" && !d.Script || d.Steers != "" {
		out = append(out, "opaque")
	}
	for _, f := range d.Files {
		if f.Name {
			continue
		}
		text := f.Access.String() + ":" + f.Word.Text
		if !f.Word.Known {
			text += "?"
		}
		if f.Word.Tilde {
			text += "(home)"
		}
		if f.Recursive {
			text += "/**"
		}
		out = append(out, text)
	}
	for _, dir := range d.Dirs {
		out = append(out, "@"+dir.Text)
	}
	return strings.Join(out, " ")
}

var descriptions = []struct{ source, want string }{
	// Where a program comes from.
	{"ls", "safe list:."},
	{"/usr/bin/ls", "safe list:."},
	{"/opt/homebrew/bin/git status", "safe"},
	{"./ls x", "unknown"},
	{"/tmp/ls", "unknown list:."},
	{"~/bin/ls", "unknown list:."},
	{"LS", "unknown"},

	// Options.
	{"ls -laR --color=auto a b", "safe list:a/** list:b/**"},
	{"sort -k 2 -r f", "safe read:f"},
	{"sort -ro out f", "known write:out read:f"},
	{"sort -oout f", "known write:out read:f"},
	{"sort --output=out f", "known write:out read:f"},
	{"sort --outp=out f", "unknown write:out read:f"},
	{"sort --compress-program=sh f", "known opaque read:f"},
	{"sort --compress-prog sh f", "unknown opaque read:f"},
	{"sort -- -o f", "safe read:-o read:f"},
	{"sort f -o g", "known write:g read:f"},
	{"sort --frobnicate f", "unknown read:f"},
	{"sort $x", "unknown read:$x?"},
	{`sort "src/$x"`, `safe read:"src/$x"?`},
	{"sort src/$x", "unknown read:src/$x?"},
	{"sort *", "unknown read:*"},
	{"sort *.txt", "unknown read:*.txt"},
	{"sort a*.txt", "safe read:a*.txt"},
	{"sort -t $x f", "unknown read:f"},
	{`sort -t "$x" f`, "safe read:f"},
	{`grep foo "$f"`, `safe read:"$f"?`},
	{"cat $f", "safe read:$f?"},
	{"sort <(cat a) <(cat b)", "safe"},
	{"frob <(cat a)", "unknown"},
	{"cat - f", "safe read:f"},
	{"head -5 f", "safe read:f"},
	{"head -n5 -q f", "safe read:f"},

	// What only reads, and what doesn't.
	{"cat ~/.ssh/id_rsa", "safe read:~/.ssh/id_rsa(home)"},
	{"uniq a", "safe read:a"},
	{"uniq a b", "known read:a write:b"},
	{"uniq -f 1 a", "safe read:a"},
	{"grep -rn foo src", "safe read:src/**"},
	{"grep -e foo src", "safe read:src"},
	{"grep -f pats src", "safe read:pats read:src"},
	{"rg foo", "safe read:./**"},
	{"rg --files src", "safe read:src/**"},
	{"grep -r foo", "safe read:./**"},
	{"grep foo", "safe"},
	{"jobs -x rm y", "known opaque"},
	{"yarn ls", "unknown list:."},
	{"pnpm list", "known"},
	{"make PREFIX=~/x", "known"},
	{"frob PREFIX=~/x if=/etc/y", "unknown read:~/x(home) read:/etc/y"},
	{"cat a=~/x", "safe read:a=~/x?"},
	{"patch -p1", "known write:./**"},
	{"rg --pre=sh foo", "known opaque read:./**"},
	{"rg --hostname-bin x foo", "known opaque read:./**"},
	{"find . -name '*.go' -type f", "safe list:./**"},
	{"find", "safe list:./**"},
	{`find . \( -name a -o -name b \) -print`, "safe list:./**"},
	{"find . -delete", "known delete:./**"},
	{"find . -fprint out", "known write:out list:./**"},
	{"find . -frobnicate", "unknown list:./**"},
	{"date", "safe"},
	{"date +%F", "safe"},
	{"date -u -d yesterday +%F", "safe"},
	{"date -s 10:00", "known"},
	{"date 01010000", "known"},
	{"hostname", "safe"},
	{"hostname -f", "safe"},
	{"hostname evil", "known"},
	{"printf '%s\\n' -v x", "safe"},
	{"printf -v x y", "known"},
	{"tree -o out", "known write:out list:./**"},
	{"file x", "safe read:x"},
	{"file -C -m x", "known read:x"},
	{"[ -f x ]", "safe list:x"},
	{`[ "$a" = b ]`, "safe"},
	{"echo /etc/passwd > x", "safe"},
	{"command -v git", "safe"},
	{"command git push", "known opaque"},
	{"command $x -v", "known opaque"},
	{"less x", "known read:x"},
	{"env", "known"},
	{"xargs rm", "known opaque"},
	{"tar xf a.tar", "unknown"},
	{"arch -x86_64 rm", "unknown"},

	// git.
	{"git status -sb", "safe"},
	{"git --no-pager log --oneline -5", "safe"},
	{"git -C sub status", "safe list:sub @sub"},
	{"git -c core.pager=sh status", "known opaque"},
	{"git --exec-path=/tmp status", "known opaque"},
	{"git diff --output=x", "known write:x"},
	{"git diff --outp=x", "unknown write:x"},
	{"git diff --ext-diff", "known opaque"},
	{"git log --frobnicate", "unknown"},
	{"git branch", "safe"},
	{"git branch -a", "safe"},
	{"git branch new", "known"},
	{"git branch -D x", "known"},
	{"git tag v1", "known"},
	{"git tag --list", "safe"},
	{"git config --list", "safe"},
	{"git config alias.x '!sh'", "known write:.git/config"},
	{"git remote -v", "safe"},
	{"git remote add x y", "known"},
	{"git stash", "known"},
	{"git stash list", "safe"},
	{"git reflog", "safe"},
	{"git reflog expire --all", "known"},
	{"git frobnicate", "unknown"},
	{"git $x status", "unknown"},
	{"git add .env", "known read:.env/**"},
	{"git rm -r x", "known delete:x/**"},
	{"git bisect run sh", "known opaque"},
	{"git rebase -x sh main", "known opaque"},
	{"git", "safe"},

	// Other tools.
	{"go version", "safe"},
	{"go env GOPATH", "safe"},
	{"go env -w GOFLAGS=x", "known"},
	{"go test ./...", "known read:./..."},
	{"go vet -vettool=x", "known opaque"},
	{"go run .", "unknown"},
	{"npm ls", "safe"},
	{"npm exec x", "unknown"},
	{"npm publish", "known"},
	{"docker ps -a", "safe"},
	{"docker -H tcp://x ps", "known"},
	{"docker run x", "known opaque"},
	{"docker compose up -d", "known"},
	{"docker compose exec a b", "known opaque"},
	{"kubectl -n prod get pods -o yaml", "safe"},
	{"kubectl get pods -n prod", "safe"},
	{"kubectl delete pod x", "known"},
	{"kubectl exec x -- rm y", "known opaque"},

	// Files.
	{"cp a b c", "known read:a read:b write:c"},
	{"cp -r a b", "known read:a/** write:b/**"},
	{"cp -t dir a b", "known write:dir read:a read:b"},
	{"cp --target-directory=dir a", "known write:dir read:a"},
	{"mv a b", "known delete:a/** write:b/**"},
	{"rm -rf a b", "known delete:a/** delete:b/**"},
	{"rm a -r", "known delete:a/**"},
	{"mkdir -p -m 755 a", "known write:a"},
	{"ln -s ../x name", "known write:name"},
	{"ln -s ../x", "known write:."},
	{"chmod -R 777 a", "known write:a/**"},
	{"chmod --reference=r a", "known list:r write:a"},
	{"dd if=/dev/zero of=~/x bs=1M", "known read:/dev/zero write:~/x(home)"},
	{"dd of=$x", "unknown write:of=$x?"},
	{"install -m 755 a b", "known read:a write:b"},
	{"tee a", "known write:a"},
	{"cp *", "unknown read:* write:* write:."},
	{"cp a $x", "unknown read:a write:$x? read:$x?"},
	{"touch \"$x\"", "known write:\"$x\"?"},
	{"frob --out=/etc/x ../y .env word https://h/p git@h:p/q -x ~/z .. file:///etc/x",
		"unknown read:/etc/x read:../y read:.env read:~/z(home) read:.. read:file:///etc/x"},
	{"frob /etc/$x $y", "unknown read:/etc/$x?"},

	// Launchers.
	{"sudo rm x", "known opaque"},
	{"bash -c 'rm x'", "unknown opaque read:rm x"},
	{"python3 x.py", "unknown read:x.py"},
	{"eval x", "known opaque"},
	{". ./x", "known opaque read:./x"},
	{"find . -exec rm {} +", "known opaque list:./** list:rm/** list:{}/** list:+/**"},
	{"awk '{print $1}' f", "known read:f"},
	{"awk '{system($1)}' f", "known opaque read:f"},
	{"awk '{print | \"sh\"}' f", "known opaque read:f"},
	{"awk -f x f", "known opaque read:x read:f"},
	{`awk "$x" f`, `unknown opaque read:f`},
	{`awk "{print $x}" f`, `known opaque read:f`},
	{"awk --frob '{print}' f", "unknown opaque read:f"},
	{"sed --frob 's/a/b/' f", "unknown opaque read:f"},
	{`sed -n "1,${n}p" f`, "known opaque read:f"},
	{"sed -n 1,5p f", "known read:f"},
	{"sed 's/a/b/g' f", "known read:f"},
	{"sed -i 's/a/b/;2d' f", "known write:f"},
	{"sed 's/a/b/e' f", "known opaque read:f"},
	{"sed '1e rm x' f", "known opaque read:f"},
	{"sed 'w x' f", "known opaque read:f"},
	{"sed 's/[/]x/y/e;s/a/b/' f", "known opaque read:f"},
	{"sed -f x f", "known opaque read:x read:f"},
	{"awk '{print > \"f\"}' x", "known opaque read:x"},
	{"awk '{printf \"%s\", $1 >> \"f\"}' x", "known opaque read:x"},
	{"awk '{getline < \"f\"}' x", "known opaque read:x"},
	{"awk '$3 > 5 {print $1 \"\\t\" $2}' x", "known read:x"},

	// Words without a role.
	{"tar xf a.tar -C/etc", "unknown read:/etc @/etc"},
	{"tar -xf a.tar -C ../x", "unknown read:../x @../x"},
	{"tar xfC a.tar ../x", "unknown read:../x @../x"},
	{"tar xf a.tar --directory=../x", "unknown read:../x @../x"},
	{"unzip a.zip -d/etc", "unknown read:/etc"},
	{"7z x a.7z -o/etc", "unknown read:/etc"},
	{"frob @/etc/x a=@../y type=bind,src=/z", "unknown read:/etc/x read:../y read:/z"},
	{"git commit -m 'see /etc/passwd'", "known"},
	{"echo /etc/passwd", "safe"},
	{"grep /etc f", "safe read:f"},
	{"sed s,/a,/b, f", "known read:f"},
	{"git push -o/etc", "known"},
	{"git restore /etc/x", "known read:/etc/x"},
	{"git fetch --frob=/etc/x", "unknown read:/etc/x"},

	// Downloads.
	{"curl https://h/p -o out", "known write:out"},
	{"curl -sSL https://h/p", "known"},
	{"curl -O https://h/a/p?q", "known write:./p"},
	{"curl -d @f https://h", "known read:f"},
	{"curl -d user@host https://h", "known"},
	{"curl --data-binary @f -F a=@g -F 'b=<h;type=x' --json @i -H @j https://h", "known read:f read:g read:h read:i read:j"},
	{"curl file:///etc/x", "known read:file:///etc/x"},
	{"curl --trace t -c c --libcurl l --etag-save e https://h", "known write:t write:c write:l write:e"},
	{"curl -K f", "known opaque read:f"},
	{"wget https://h/a/p", "known write:./p"},
	{"wget -P sub https://h/a/p", "known write:sub write:sub/p"},
	{"curl --output-dir sub -O https://h/a/p", "known write:sub write:sub/p"},
	{"wget -O out https://h/p", "known write:out"},
	{"wget --post-file=f --save-cookies c --spider https://h", "known read:f write:c"},

	// Where it runs.
	{"make -C /x -j8", "known list:/x @/x"},
	{"go -C ../x build", "known list:../x @../x"},
	{"npm --prefix ../x install", "known list:../x @../x"},
	{"cargo -C ../x build", "known list:../x @../x"},
	{"cargo build --manifest-path ../x/Cargo.toml", "known read:../x/Cargo.toml @../x"},
	{"docker compose --project-directory ../x up", "known list:../x @../x"},
	{"git --work-tree=../x status", "known list:../x @../x"},
	{"git --git-dir=../x/.git status", "known list:../x/.git @../x/.git"},

	// git that writes and runs.
	{"git -c alias.x='!sh' x", "unknown opaque"},
	{"git -c user.name=x commit -m y", "known"},
	{"git config --global user.name x", "known write:~/.gitconfig(home)"},
	{"git config --file F a.b c", "known write:F"},
	{"git config user.name", "known"},
	{"git archive -o ../x HEAD", "known write:../x"},
	{"git bundle create ../x HEAD", "known write:../x"},
	{"git format-patch -o ../x HEAD", "known write:../x"},
	{"git apply ../x", "known read:../x"},
	{"/usr/lib/git-core/git-push -f", "unknown opaque"},
	{"/usr//bin/./git status", "safe"},
	{"cargo +nightly build", "known"},

	// Launchers by their options, and what is none.
	{"tar cf a.tar --checkpoint-action=exec=sh x", "unknown opaque"},
	{"tar xf a.tar --to-command=sh", "unknown opaque"},
	{"tar -I sh -xf a.tar", "unknown opaque"},
	{"zip -TT sh x y", "known opaque write:sh read:x read:y"},
	{"man -P sh ls", "known opaque"},
	{"make --eval 'x:;sh'", "known opaque"},
	{"make -f -", "known opaque"},
	{"make SHELL=./x", "known opaque read:./x"},
	{"make CC=gcc test", "known"},
	{"fd x -x rm", "known opaque list:rm/**"},
	{"bash x.sh a -c", "unknown read:x.sh"},
	{"bash -eux x.sh", "unknown read:x.sh"},
	{"bash +x -c 'rm y'", "unknown opaque read:+x"},
	{"bash", "unknown opaque"},
	{"bash -s x", "unknown opaque read:x"},
	{"bash /dev/stdin", "unknown opaque read:/dev/stdin"},
	{"python3 --version", "unknown"},
	{"python3", "unknown opaque"},
	{"python3 -c 'x'", "unknown opaque"},
	{"python3 -", "unknown opaque"},
	{"python3 $x", "unknown opaque read:$x?"},
	{"python3 -m pytest -k x tests/a.py", "unknown read:tests/a.py"},
	{"python3 -m timeit x", "unknown opaque"},
	{".venv/bin/python -c x", "unknown opaque"},
	{"node -e x", "unknown opaque"},
	{"node a.js -e x", "unknown read:a.js"},
	{"vim a +q", "known opaque write:a write:+q"},
	{"vim a +3", "known write:a write:+3"},
	{"npx eslint src/x", "unknown read:src/x"},
	{"npx sudo rm x", "unknown opaque"},
	{"uv run pytest", "unknown"},
	{"uv run python -c x", "unknown opaque"},
	{"poetry install", "known"},
	{"go run ./cmd/x -o /etc/y", "unknown read:./cmd/x read:/etc/y"},
	{"gcc -I/usr/include -c x.c -o../x.o", "known list:/usr/include write:../x.o read:x.c"},
	{"gcc -wrapper sh x.c", "unknown opaque read:sh read:x.c"},
	{"deno test", "known"},
	{"bash -euo pipefail x.sh", "unknown read:x.sh"},
	{"bash -oc pipefail x", "unknown opaque read:pipefail"},
	{"bun exec 'git push'", "known opaque"},
	{"bun x.ts", "unknown"},
	{"bun install", "known"},
	{"bun -e x", "known opaque"},
	{"deno run -A x.ts", "unknown read:x.ts"},
	{"deno eval x", "unknown opaque"},
	{"env rm x", "known opaque"},
}

func TestDescribe(t *testing.T) {
	for _, c := range descriptions {
		t.Run(c.source, func(t *testing.T) {
			if got := show(Describe(command(t, c.source))); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestDescribeNothing(t *testing.T) {
	if got := show(Describe(nil)); got != "safe" {
		t.Errorf("no words: %s", got)
	}
	if got := show(Describe([]shell.Word{{}})); got != "unknown" {
		t.Errorf("an unknown word: %s", got)
	}
	if d := (Description{}); d.Safe || d.Known {
		t.Error("the zero Description must promise nothing")
	}
}

func TestOpaqueReason(t *testing.T) {
	d := Describe(command(t, "/usr/bin/sudo -u root ls"))
	if want := "sudo runs another command, which this version does not follow"; d.Opaque != want || d.Name != "sudo" {
		t.Errorf("%s: %q", d.Name, d.Opaque)
	}
}

// Nothing that launches may be safe, whatever its options.
func TestLaunchersAreOpaque(t *testing.T) {
	for _, name := range strings.Fields(`sudo doas env nice nohup timeout xargs parallel watch ssh su busybox script
		flock chroot setsid stdbuf ionice unshare nsenter strace time exec eval source . trap builtin lua hyperfine setpriv gosu tini dumb-init
		chronic perf valgrind sg rlwrap sshpass proxychains4 torsocks faketime numactl cpulimit runcon capsh choom pwsh powershell lerna`) {
		d := Describe(command(t, `\`+name+" x"))
		if d.Opaque == "" || d.Safe {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestSteering(t *testing.T) {
	for _, name := range strings.Fields("PATH LD_PRELOAD DYLD_INSERT_LIBRARIES IFS BASH_ENV ENV GIT_SSH_COMMAND GIT_PAGER GIT_EDITOR GIT_EXTERNAL_DIFF PAGER EDITOR PYTHONPATH PYTHONSTARTUP NODE_OPTIONS PERL5LIB PERL5OPT RUBYOPT GREP_OPTIONS HOME") {
		if !Steering(name) {
			t.Errorf("%s must be steering", name)
		}
	}
	for _, name := range strings.Fields("X FOO CI DEBUG GIT_AUTHOR_NAME PYTHONUNBUFFERED TZ LANG PATHS") {
		if Steering(name) {
			t.Errorf("%s must not be steering", name)
		}
	}
}

func TestHarmlessSed(t *testing.T) {
	for _, code := range []string{"p", "1p", "1,5p", "$d", "/a b/,/c/d", "/x/!d", "s/a/b/", "s/a/b/gI2p", `s/a\/b/c/`, "s|/a|/b|g", "s#a#b#;2q", "1,3p;5p", "s/[ab]/c/", "s,a,b,"} {
		if !harmlessSed(code) {
			t.Errorf("%q must be harmless", code)
		}
	}
	for _, code := range []string{"", "e", "1e", "1e rm x", "s/a/b/e", "s/a/b/ge", "s/a/b/w f", "w f", "r f", "s/[/]/g", "s/[/]/g;p", "p;e", "p;s/a/b/e", "s/a/b", "sxaxbxe", "p\ne", "a\\\nx", "{e}", "s/a;b/c/e", "y/a/b/;e", "W f", "F;e"} {
		if harmlessSed(code) {
			t.Errorf("%q must not be harmless", code)
		}
	}
}
