// Package rules is the rules language: a line of words becomes a small Petri
// net, and the map lines give calls the names that rules and nets speak of.
//
//	map TOOL.FIELD PATTERN as NAME      PATTERN: /regex/, word or "quoted command"
//	require A before B
//	require human-approval before B
//	block A
//	limit A to N per session
//	limit A to N per B
//
// One line is one rule; # begins a comment outside of /…/ and "…". Words stand
// apart by spaces or tabs. A tool's name begins with a letter, a digit or _, and
// goes on with those and - . : / @ +. In TOOL.FIELD the field is what follows
// the last dot.
//
//   - /regex/ is RE2. \/ is a slash, everything else is RE2's own; flags stand
//     inside, as in /(?i)drop/.
//   - A word has no space, no quotes and no #, and does not begin with a slash.
//     It fits where no letter, digit or _ stands right before or after it.
//   - In "quoted command" \" is a quote and \\ a backslash; there are no other
//     escapes. What is inside is a pattern of zones/programs.
//
// [Parse] finds every mistake of a text, each with its position. [Nets] compiles
// the rules, one net each; [NewNamer] compiles the map lines.
//
// What the package promises: a text that parses is canonical once printed and
// parsed again; a net never holds back the tool that its rule asks for first; a
// [Namer] never drops a command without a word: what it can't know is a [Doubt],
// which deserves at least an ask.
//
// What it can't see: whether a tool of some name exists, what a rule and another
// mean together (that is the analysis of nets), and everything that zones/shell
// and zones/programs can't see in a command.
package rules
