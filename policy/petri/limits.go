package petri

// Limits. What goes beyond one is refused by name, never cut short.
const (
	// MaxPlaces and MaxTransitions are how many of them one net may have.
	MaxPlaces      = 1000
	MaxTransitions = 1000
	// MaxArcs is how many places one list of a transition may name, repetitions
	// counted: the greatest weight of an arc.
	MaxArcs = 1_000_000
	// MaxTokens is how many tokens a place holds. A firing that would put more
	// there is an error and changes nothing.
	MaxTokens = 1_000_000_000
	// MaxRounds ends a structural advance that never comes to rest.
	MaxRounds = 1000
	// MaxNames is how many virtual names one call may have.
	MaxNames = 1024
	// MaxIssues is how many mistakes of one definition are listed.
	MaxIssues = 100

	// LoadStates and ValidateStates are how many states a search visits while a
	// policy is loaded, and when somebody asks for the figures.
	LoadStates     = 100_000
	ValidateStates = 1_000_000
	// MaxLoop is the longest loop that is tried as a witness of unboundedness.
	MaxLoop = 64
	// MaxListed is how many deadlocks a report lists; it counts all.
	MaxListed = 5
)
