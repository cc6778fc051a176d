#!/bin/sh
# Runs every example against a provider of its own, and holds each to its exit
# code and its output. Prints a line per example; exit 1 where one is not as it
# should be. Needs Go, and Node.js with npm; NODE=skip leaves TypeScript out.
# The nats CLI is used where it is installed, or can be: NATS_CLI=skip leaves it out.
set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d)
pids=
finish() {
	for pid in $pids; do kill "$pid" 2>/dev/null || :; done
	wait
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM # EXIT follows

failed=0
ok() { echo "ok    $1"; }
fail() { # NAME FILE
	failed=1
	echo "FAIL  $1"
	sed 's/^/      /' "$2"
}
skip() { echo "SKIP  $1"; }
die() { # NAME FILE
	fail "$1" "$2"
	exit 1
}

# The environment of whoever runs this must not reach the examples.
for name in $(env | sed -n 's/^\(GUARDRAILS_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
unset NATS_CREDS NATS_NKEY NATS_USER NATS_PASSWORD NATS_TOKEN NATS_CONTEXT || :

build() { # NAME COMMAND…
	name=$1
	shift
	"$@" >"$tmp/log" 2>&1 || die "$name" "$tmp/log"
}
build "go build" go build -o "$tmp/" ./cmd/guardrails-provider ./examples/go-plain ./examples/go-helper

# serve NAME FLAGS…: starts a provider; its URL is then in $url, its process in $pid.
serve() {
	name=$1
	shift
	: >"$tmp/$name.out"
	"$tmp/guardrails-provider" serve --listen 127.0.0.1:0 --data-dir "$tmp/$name" "$@" >"$tmp/$name.out" 2>"$tmp/$name.err" &
	pid=$!
	pids="$pids $pid"
	tries=0
	url=
	while [ -z "$url" ]; do
		url=$(sed -n '1s/.* \(nats:\/\/[^ ]*\).*/\1/p' "$tmp/$name.out")
		tries=$((tries + 1))
		if [ "$tries" -gt 100 ] || ! kill -0 "$pid" 2>/dev/null; then
			die "serve" "$tmp/$name.err"
		fi
		[ -n "$url" ] || sleep 0.1
	done
}
serve provider
provider=$pid here=$url
serve elsewhere --subject-prefix elsewhere # a server on which nobody takes guardrails.check
elsewhere=$pid nobody=$url
nowhere=nats://127.0.0.1:1 # no server at all

# try NAME URL EXIT PATTERN COMMAND…
try() {
	name=$1 at=$2 want=$3 pattern=$4
	shift 4
	got=0
	NATS_URL=$at "$@" >"$tmp/log" 2>&1 || got=$?
	if [ "$got" -ne "$want" ]; then
		echo "exit $got, not $want: $*" >>"$tmp/log"
		return 1
	fi
	if ! grep -q "$pattern" "$tmp/log"; then
		echo "nothing there matches $pattern: $*" >>"$tmp/log"
		return 1
	fi
}

# example NAME COMMAND…: the four things that can come of a check.
example() {
	name=$1
	shift
	if try "$name" "$here" 0 '^allow (policy): ' "$@" read README.md &&
		try "$name" "$here" 1 '^block (policy): ' "$@" write /etc/passwd &&
		try "$name" "$here" 1 '^block (approval-required): ' "$@" write .env &&
		try "$name" "$nobody" 3 'nobody judged' "$@" read README.md &&
		try "$name" "$nowhere" 3 'nobody judged' "$@" read README.md; then
		ok "$name"
	else
		fail "$name" "$tmp/log"
	fi
}

example go-plain "$tmp/go-plain"
example go-helper "$tmp/go-helper"

if [ "${NODE-}" = skip ]; then
	skip "typescript: NODE=skip"
else
	cp -R examples/typescript "$tmp/typescript"
	rm -rf "$tmp/typescript/node_modules" "$tmp/typescript/dist"
	(
		cd "$tmp/typescript"
		npm ci --no-audit --no-fund
		npm run build
	) >"$tmp/log" 2>&1 || die "npm ci, npm run build" "$tmp/log"
	example typescript node "$tmp/typescript/dist/check.js"
	example "typescript, CloudEvents" node "$tmp/typescript/dist/cloudevents.js"
	if try conformance "$here" 0 '^ok    discovery' node "$tmp/typescript/dist/conformance.js" &&
		[ "$(grep -c '^ok ' "$tmp/log")" -eq 13 ]; then
		ok "typescript conformance: $(grep -c '^ok ' "$tmp/log") of 13"
	else
		fail "typescript conformance" "$tmp/log"
	fi
	if try conformance "$nobody" 1 '^FAIL ' node "$tmp/typescript/dist/conformance.js"; then
		ok "typescript conformance fails where nobody answers"
	else
		fail "typescript conformance where nobody answers" "$tmp/log"
	fi
fi

# The shell example says so where the nats CLI is missing.
mkdir "$tmp/bin"
ln -s "$(command -v sh)" "$tmp/bin/sh"
if try shell "$here" 3 'nobody judged: nats is not installed' env PATH="$tmp/bin" sh examples/shell/check.sh read README.md; then
	ok "shell without the nats CLI"
else
	fail "shell without the nats CLI" "$tmp/log"
fi

PATH="$PATH:$tmp/gobin"
if [ "${NATS_CLI-}" != skip ] && ! command -v nats >/dev/null; then
	limit=
	if command -v timeout >/dev/null; then limit="timeout 120"; fi
	GOBIN="$tmp/gobin" GOFLAGS= $limit go install github.com/nats-io/natscli/nats@latest >"$tmp/log" 2>&1 || :
fi
if [ "${NATS_CLI-}" = skip ]; then
	skip "shell: NATS_CLI=skip"
elif ! command -v nats >/dev/null; then
	skip "shell: the nats CLI is not installed, and go install did not get it: $(tail -n 1 "$tmp/log")"
elif ! command -v jq >/dev/null; then
	skip "shell: jq is not installed"
else
	mkdir "$tmp/config" # no context of this machine's user
	XDG_CONFIG_HOME="$tmp/config"
	export XDG_CONFIG_HOME
	example "shell, request" examples/shell/check.sh
	example "shell, publish and subscribe" examples/shell/check.sh --subscribe
	if try odd "$here" 0 '^allow (policy): .*{{ID}}' examples/shell/check.sh read 'odd {{ID}} "name" \ $HOME'; then
		ok "shell, an odd file name"
	else
		fail "shell, an odd file name" "$tmp/log"
	fi
	if try micro "$here" 0 'guardrails-provider' nats micro ls &&
		try micro "$here" 0 'guardrails.check.>' nats micro info guardrails-provider &&
		try micro "$here" 0 'check-scoped' nats micro stats guardrails-provider; then
		ok "nats micro ls, info, stats"
	else
		fail "nats micro ls, info, stats" "$tmp/log"
	fi
fi

# An orderly end: SIGTERM, then exit 0.
for pid in "$provider" "$elsewhere"; do
	got=0
	kill -TERM "$pid"
	wait "$pid" || got=$?
	[ "$got" -eq 0 ] || {
		cat "$tmp/provider.err" "$tmp/elsewhere.err" >"$tmp/log"
		fail "SIGTERM: exit $got, not 0" "$tmp/log"
	}
done
pids=
[ "$failed" -ne 0 ] || ok "SIGTERM"
exit "$failed"
