// Package conformance holds a provider to the protocol from outside: its tests
// build guardrails-provider, run it, and speak to it over TCP by hand, so that
// nothing of ours, and no NATS library, stands between the two.
package conformance
