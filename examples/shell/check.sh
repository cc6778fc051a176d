#!/bin/sh
# Asks the guard with the nats CLI; jq writes and reads the JSON.
#
#   check.sh write /etc/passwd               request and reply
#   check.sh --subscribe write /etc/passwd   publish and subscribe
#
# Exit: 0 allowed, 1 not allowed, 2 wrong use, 3 nobody judged. The server is $NATS_URL.
set -eu

how=request
if [ "${1-}" = --subscribe ]; then
	how=subscribe
	shift
fi
if [ $# -ne 2 ]; then
	echo "usage: check.sh [--subscribe] OPERATION PATH" >&2
	exit 2
fi
for tool in nats jq; do
	if ! command -v "$tool" >/dev/null; then
		echo "nobody judged: $tool is not installed" >&2
		exit 3
	fi
done
NATS_URL=${NATS_URL:-nats://127.0.0.1:4222}
export NATS_URL

id=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
# The nats CLI takes {{ in a body for a template of its own; \u007b is the same brace.
check=$(jq -cn --arg id "$id" --arg operation "$1" --arg path "$2" --arg cwd "$PWD" --arg home "$HOME" '{
	protocolVersion: "1", requestId: $id,
	caller: { extensionId: "example-shell" },
	action: { resource: { kind: "file" }, operation: $operation, targets: [ { path: $path } ] },
	context: { cwd: $cwd, home: $home },
	options: { timeoutMs: 1000 }
}' | sed 's/{{/{\\u007b/g')

case $how in
request)
	answer=$(nats request --raw --timeout 1s guardrails.check "$check" 2>/dev/null) || answer=
	;;
subscribe)
	# A scope of its own, so that only this check's decision is heard. The CLI does
	# not say when it has subscribed, so the check is sent until it is answered: the
	# same check again gets the same answer, and changes nothing.
	heard=$(mktemp)
	nats subscribe --raw --count 1 "guardrails.decision.example-shell.$id" >"$heard" 2>/dev/null &
	listener=$!
	trap 'kill "$listener" 2>/dev/null || :; rm -f "$heard"' EXIT
	tries=0
	while [ ! -s "$heard" ] && [ "$tries" -lt 5 ]; do
		nats publish "guardrails.check.example-shell.$id" "$check" >/dev/null 2>&1 || break
		sleep 0.2 2>/dev/null || sleep 1
		tries=$((tries + 1))
	done
	answer=$(cat "$heard")
	;;
esac

# An answer to another check, or of another protocol, is no answer.
field() {
	printf '%s' "$answer" | jq -r --arg id "$id" \
		"select(.protocolVersion == \"1\" and .requestId == \$id) | .$1" 2>/dev/null || :
}
decision=$(field decision)
code=$(field code)
case $decision/$code in
/*)
	echo "nobody judged: no answer came" >&2
	exit 3
	;;
error/overloaded | error/policy-unavailable | error/state-unavailable | error/unsupported-*)
	echo "nobody judged: $(field reason)" >&2
	exit 3
	;;
esac
echo "$decision ($code): $(field reason)"
[ "$decision" = allow ] # exactly that, and nothing else
