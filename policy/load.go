package policy

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/guardrails-provider/guardrails-provider/policy/source"
	"github.com/guardrails-provider/guardrails-provider/zones"
)

// File is the text of one policy file; Name is what mistakes call it.
type File struct {
	Name string
	Text []byte
}

// Load reads files, and folders of *.yaml and *.yml files in the order of their
// names (not the folders below them), as one policy. The error is that of the
// file system, or [source.Mistakes] with every mistake of every file.
func Load(paths ...string) (*Policy, error) {
	files, err := Read(paths...)
	if err != nil {
		return nil, err
	}
	return Parse(files...)
}

// ErrNoPolicy is returned when a folder holds no policy file.
var ErrNoPolicy = errors.New("no policy file")

// Read reads the files that [Load] would.
func Read(paths ...string) ([]File, error) {
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w: give a file or a folder", ErrNoPolicy)
	}
	var files []File
	for _, path := range paths {
		names, err := policyFiles(path)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			files = append(files, File{Name: name, Text: text})
		}
	}
	return files, nil
}

func policyFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if isPolicyFile(e) {
			names = append(names, filepath.Join(path, e.Name()))
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w in the folder %s: it needs a *.yaml or *.yml", ErrNoPolicy, path)
	}
	slices.Sort(names)
	return names, nil
}

// isPolicyFile takes links, too: a mounted configuration is often one.
func isPolicyFile(e fs.DirEntry) bool {
	switch filepath.Ext(e.Name()) {
	case ".yaml", ".yml":
		return !e.IsDir() && !strings.HasPrefix(e.Name(), ".")
	}
	return false
}

// Parse compiles the texts of policy files, in their order, as one policy. The
// error is [source.Mistakes] with every mistake of every file.
func Parse(files ...File) (*Policy, error) {
	var mistakes source.Mistakes
	f := newFormat(&mistakes)
	for _, file := range files {
		if v, ok := source.Parse(file.Name, file.Text, &mistakes); ok {
			f.read(v)
		}
	}
	if len(files) == 0 {
		return nil, ErrNoPolicy
	}
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	return f.compile(Hash(files...))
}

// Hash names the contents of policy files, as [Policy.Hash] does, whether or not
// they load: their contents in their order, and not their names. That of one file
// is its SHA-256; that of several the SHA-256 of theirs, one after the other.
func Hash(files ...File) string {
	if len(files) == 1 {
		sum := sha256.Sum256(files[0].Text)
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	all := sha256.New()
	for _, f := range files {
		sum := sha256.Sum256(f.Text)
		all.Write(sum[:])
	}
	return "sha256:" + hex.EncodeToString(all.Sum(nil))
}

//go:embed starter.yaml
var starter []byte

// homeLine is where StarterText writes the home.
var homeLine = regexp.MustCompile(`(?m)^#home: /home/dev {6}`)

// StarterText returns the commented policy that a provider without one uses. A
// home that a policy can name is written into it; any other is left out.
func StarterText(home string) []byte {
	if home == "" || zones.CheckHome(home) != nil {
		return slices.Clone(starter)
	}
	return homeLine.ReplaceAllLiteral(starter, []byte("home: "+strconv.Quote(home)))
}

// Starter compiles the policy of StarterText. It panics where that is broken,
// which a test rules out.
func Starter(home string) *Policy {
	p, err := Parse(File{Name: "starter.yaml", Text: StarterText(home)})
	if err != nil {
		panic(err)
	}
	return p
}
