package programs

import "strings"

// steering names the variables that change which program runs, what it loads,
// or what it runs in turn.
var steering = map[string]bool{
	"PATH": true, "IFS": true, "ENV": true, "BASH_ENV": true, "SHELL": true, "SHELLOPTS": true, "BASHOPTS": true,
	"PS4": true, "PROMPT_COMMAND": true, "CDPATH": true, "HOME": true, "ZDOTDIR": true,
	"PAGER": true, "MANPAGER": true, "EDITOR": true, "VISUAL": true, "BROWSER": true, "LESSOPEN": true, "LESSCLOSE": true,
	"LESS": true, "SYSTEMD_PAGER": true, "SYSTEMD_EDITOR": true, "SUDO_ASKPASS": true, "SSH_ASKPASS": true,
	"NODE_OPTIONS": true, "NODE_PATH": true, "RUBYOPT": true, "RUBYLIB": true, "GEM_HOME": true, "GEM_PATH": true,
	"JAVA_TOOL_OPTIONS": true, "_JAVA_OPTIONS": true, "JDK_JAVA_OPTIONS": true, "CLASSPATH": true,
	"GREP_OPTIONS": true, "GREP_COLORS": false, "TAR_OPTIONS": true, "RSYNC_RSH": true, "RIPGREP_CONFIG_PATH": true,
	"GOFLAGS": true, "GOROOT": true, "GOTOOLDIR": true, "GOENV": true, "GOTOOLCHAIN": true, "GOPATH": true, "GOBIN": true,
	"CC": true, "CXX": true, "MAKEFLAGS": true, "RUSTC": true, "RUSTC_WRAPPER": true, "RUSTFLAGS": true,
	"DOCKER_HOST": true, "DOCKER_CONFIG": true, "KUBECONFIG": true, "LOCPATH": true, "GCONV_PATH": true, "NLSPATH": true,
	"TERMINFO": true, "TERMCAP": true, "MANOPT": true, "XDG_CONFIG_HOME": true,
}

// steeringPrefixes begin the names of families of such variables.
var steeringPrefixes = []string{
	"LD_", "DYLD_", "GIT_", "PYTHON", "PERL", "NPM_CONFIG_", "npm_config_", "CARGO_", "BASH_FUNC_", "LUA_", "PHP", "MALLOC_",
}

// harmlessGit are those of GIT_ that only say who, when and how it looks.
var harmlessGit = map[string]bool{
	"GIT_AUTHOR_NAME": true, "GIT_AUTHOR_EMAIL": true, "GIT_AUTHOR_DATE": true,
	"GIT_COMMITTER_NAME": true, "GIT_COMMITTER_EMAIL": true, "GIT_COMMITTER_DATE": true,
	"GIT_TERMINAL_PROMPT": true, "GIT_TRACE": false,
}

// harmlessPython are those of PYTHON that load nothing.
var harmlessPython = map[string]bool{
	"PYTHONUNBUFFERED": true, "PYTHONDONTWRITEBYTECODE": true, "PYTHONHASHSEED": true, "PYTHONIOENCODING": true, "PYTHONUTF8": true,
}

// Steering says whether setting the environment variable of this name can
// change which program a command runs, what code it loads, or what it runs in
// turn. A command under such an assignment isn't what its words say.
func Steering(name string) bool {
	if steering[name] {
		return true
	}
	for _, prefix := range steeringPrefixes {
		if strings.HasPrefix(name, prefix) {
			return !harmlessGit[name] && !harmlessPython[name]
		}
	}
	return false
}
