// Package bus puts an engine on NATS: it connects, or runs a server of its own,
// takes checks in the providers' queue group, and publishes each decision on the
// reply subject and on the decision subject of the check's scope.
//
// It promises that every message out of which a requestId or a reply subject can
// be made gets an answer, panics, deadlines and overload included; that the
// checks of one session are decided in the order in which they came on a subject;
// and that a stop answers what was accepted.
//
// It cannot see whether an answer arrived, nor what a caller does with it. It
// knows no zone and no net: what decides is behind the engine.
package bus
