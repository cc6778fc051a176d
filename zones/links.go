package zones

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/bmatcuk/doublestar/v4"
)

// maxLinks is how many links are followed in one path, as many as Linux follows.
const maxLinks = 40

// maxFits is how many files a shell pattern may fit until its links are not
// looked at any more.
const maxFits = 1000

// linksAmong returns where the files lead that a shell pattern fits on this
// machine now, those of them that are links; false where it can't tell.
func linksAmong(pattern string, resolve func(string) (place, error)) (real []place, ok bool) {
	fits := 0
	tooMany := errors.New("too many")
	err := doublestar.GlobWalk(os.DirFS("/"), strings.TrimPrefix(pattern, "/"), func(name string, _ fs.DirEntry) error {
		if fits++; fits > maxFits {
			return tooMany
		}
		to, err := resolve("/" + name)
		if err != nil {
			return err
		}
		if to != clean("/"+name) && !slices.Contains(real, to) {
			real = append(real, to)
		}
		return nil
	}, doublestar.WithFailOnIOErrors())
	return real, err == nil
}

// resolveLinks resolves symbolic links on this machine, as the system does when
// it opens the path: ".." goes up from where a link leads. What does not exist
// yet stands for itself, and a link to it for what it names, since writing to
// the link would create that.
func resolveLinks(absolute string) (place, error) {
	at := ""
	links := 0
	rest := strings.Split(absolute, "/")
	for len(rest) > 0 {
		element := rest[0]
		rest = rest[1:]
		switch element {
		case "", ".":
			continue
		case "..":
			at = at[:max(strings.LastIndexByte(at, '/'), 0)]
			continue
		}
		next := at + "/" + element
		to, err := os.Readlink(next)
		switch {
		case err == nil:
		case errors.Is(err, syscall.EINVAL), errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			at = next // no link, or nothing there yet
			continue
		default:
			return "", err
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("more than %d links", maxLinks)
		}
		if strings.HasPrefix(to, "/") {
			at = ""
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return clean(at + "/"), nil
}

// proc returns what a path leads to that goes through the root or the cwd of a
// process: links that are there on every Linux machine, and would let anything
// be named in a second way. The problem says why that can't be known, in words
// that follow the path.
func (s *surroundings) proc(p place) (to place, linked bool, problem string) {
	if rest, ok := strings.CutPrefix(string(p), "/dev/fd/"); ok && strings.Contains(rest, "/") {
		return "", true, belowDescriptor
	}
	rest, ok := strings.CutPrefix(string(p), "/proc/")
	if !ok {
		return "", false, ""
	}
	process, rest, _ := strings.Cut(rest, "/")
	own := process == "self" || process == "thread-self"
	if !own && strings.Trim(process, "0123456789") != "" {
		return "", false, ""
	}
	if after, ok := strings.CutPrefix(rest, "task/"); ok {
		_, rest, _ = strings.Cut(after, "/")
	}
	link, rest, below := strings.Cut(rest, "/")
	if below {
		rest = "/" + rest
	}
	switch link {
	case "root":
		return place(rest), true, ""
	case "cwd":
		switch {
		case own && s.hasCwd:
			return s.cwd + place(rest), true, ""
		case below:
			return "", true, "leads through the cwd of a process, which is not known here; give the absolute path"
		}
	case "fd":
		if strings.LastIndexByte(rest, '/') > 0 {
			return "", true, belowDescriptor
		}
	}
	return "", false, ""
}

const belowDescriptor = "leads through an open folder of a process, which is not known here; give the absolute path"

// upFromLink says whether a path goes up with ".." from below /proc or /dev/fd,
// where almost every name may be a link: the system goes up from where it leads,
// so that /proc/self/root/.. is the root.
func upFromLink(absolute string) bool {
	if !strings.Contains(absolute, "..") {
		return false
	}
	var at []string
	for element := range strings.SplitSeq(absolute, "/") {
		switch element {
		case "", ".":
		case "..":
			if len(at) > 1 && (at[0] == "proc" || at[0] == "dev" && at[1] == "fd") {
				return true
			}
			at = at[:max(len(at)-1, 0)]
		default:
			at = append(at, element)
		}
	}
	return false
}
