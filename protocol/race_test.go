//go:build race

package protocol_test

// raceEnabled says that this is a build with the race detector, which is ten
// times slower.
const raceEnabled = true
