// Package compose_test holds compose.yaml and the Dockerfile to what they run,
// without a container engine: the model is loaded as Docker Compose loads it, the
// image's build command is run on the files that would be sent to it, and what it
// builds is started with the commands and the configuration of the model.
package compose_test

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/guardrails-provider/guardrails-provider/policy"
)

const root = "../.."

func load(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "compose.yaml")},
		cli.WithWorkingDirectory(root), cli.WithResolvedPaths(true))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

func service(t *testing.T, p *types.Project, name string) types.ServiceConfig {
	t.Helper()
	s, err := p.GetService(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestServices(t *testing.T) {
	p := load(t)
	if got, want := p.ServiceNames(), []string{"nats", "nats-box", "provider"}; !slices.Equal(got, want) {
		t.Fatalf("services %q, not %q", got, want)
	}
	for name, image := range map[string]string{"nats": "nats:2-alpine", "nats-box": "natsio/nats-box:latest", "provider": "guardrails-provider:local"} {
		s := service(t, p, name)
		if s.Image != image {
			t.Errorf("%s: image %q, not %q", name, s.Image, image)
		}
		if s.Restart != types.RestartPolicyUnlessStopped {
			t.Errorf("%s: restart %q", name, s.Restart)
		}
		if name == "nats" {
			continue
		}
		if d := s.DependsOn["nats"]; d.Condition != types.ServiceConditionHealthy || !d.Required {
			t.Errorf("%s does not wait until nats is healthy: %+v", name, d)
		}
	}
	provider := service(t, p, "provider")
	if provider.Deploy == nil || provider.Deploy.Replicas == nil || *provider.Deploy.Replicas != 2 {
		t.Errorf("replicas: %+v", provider.Deploy)
	}
	if provider.ContainerName != "" || len(provider.Ports) > 0 {
		t.Error("replicas can share neither a name nor a published port")
	}
	if !provider.ReadOnly || !slices.Contains(provider.CapDrop, "ALL") {
		t.Error("the provider's container may do more than it needs")
	}
	if g := provider.StopGracePeriod; g == nil || time.Duration(*g) <= 10*time.Second {
		t.Errorf("stop_grace_period %v: the provider may take 10s", g)
	}
	if b := provider.Build; b == nil || filepath.Clean(b.Context) != abs(t, root) {
		t.Errorf("build: %+v", provider.Build)
	}
	for name, s := range p.Services {
		for _, port := range s.Ports {
			if name != "nats" || port.HostIP != "127.0.0.1" || port.Published != "4222" || port.Target != 4222 {
				t.Errorf("%s publishes %+v", name, port)
			}
		}
	}
}

func TestVolumes(t *testing.T) {
	p := load(t)
	if _, ok := p.Volumes["jetstream"]; !ok || len(p.Volumes) != 1 {
		t.Errorf("volumes %v", p.VolumeNames())
	}
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			switch v.Type {
			case types.VolumeTypeVolume:
				if name != "nats" || v.Source != "jetstream" || v.Target != "/data" {
					t.Errorf("%s: volume %+v", name, v)
				}
			case types.VolumeTypeBind:
				if !v.ReadOnly {
					t.Errorf("%s: %s is mounted for writing", name, v.Source)
				}
				if _, err := os.Stat(v.Source); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			default:
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
	file := mounted(t, service(t, p, "provider"), flagOf(t, p, "policy"))
	loaded, err := policy.Load(file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if loaded.Zones() == 0 || loaded.Mode() != policy.ModeEnforce {
		t.Errorf("%s: %d zones, mode %s", file, loaded.Zones(), loaded.Mode())
	}
}

// flagOf returns the value of a flag of the provider's command.
func flagOf(t *testing.T, p *types.Project, name string) string {
	t.Helper()
	for _, word := range service(t, p, "provider").Command {
		if value, ok := strings.CutPrefix(word, "--"+name+"="); ok {
			return value
		}
	}
	t.Fatalf("the provider's command has no --%s", name)
	return ""
}

// mounted returns where a file of a container is on this machine.
func mounted(t *testing.T, s types.ServiceConfig, inside string) string {
	t.Helper()
	for _, v := range s.Volumes {
		if rest, ok := strings.CutPrefix(inside, v.Target+"/"); ok && v.Type == types.VolumeTypeBind {
			return filepath.Join(v.Source, rest)
		}
	}
	t.Fatalf("%s: nothing is mounted at %s", s.Name, inside)
	return ""
}

func abs(t *testing.T, name string) string {
	t.Helper()
	full, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return full
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDockerfile(t *testing.T) {
	text := read(t, "Dockerfile")
	golang := regexp.MustCompile(`(?m)^ARG GO_VERSION=(.*)$`).FindStringSubmatch(text)
	module := regexp.MustCompile(`(?m)^go (.*)$`).FindStringSubmatch(read(t, "go.mod"))
	if golang == nil || golang[1] != module[1] {
		t.Errorf("the image is built with Go %q, and go.mod asks for %q", golang, module[1])
	}
	last := text[strings.LastIndex(text, "\nFROM "):]
	for _, line := range []string{"FROM scratch", "USER 65532:65532", `ENTRYPOINT ["/guardrails-provider"]`, `CMD ["serve"]`} {
		if !strings.Contains(last, "\n"+line+"\n") {
			t.Errorf("the last stage has no line %s", line)
		}
	}
	test := service(t, load(t), "provider").HealthCheck.Test
	if len(test) != 3 || test[0] != "CMD" || !strings.Contains(last, "/out"+test[1]+" ") {
		t.Errorf("the health check %q runs what the image does not have", test)
	}
}

// build copies what would be sent to the builder, runs the Dockerfile's build
// command there, and returns the folder of the programs.
func build(t *testing.T, version string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the programs")
	}
	src, out := t.TempDir(), t.TempDir()
	sendContext(t, src)
	command := regexp.MustCompile(`(?m)^RUN (.*go build .*)$`).FindStringSubmatch(read(t, "Dockerfile"))
	if command == nil || strings.Count(command[1], " /out/ ") != 1 {
		t.Fatal("no build command in the Dockerfile")
	}
	cmd := exec.Command("sh", "-c", strings.Replace(command[1], " /out/ ", " '"+out+"/' ", 1))
	cmd.Dir = src
	cmd.Env = append(os.Environ(), "VERSION="+version)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command[1], err, text)
	}
	return out
}

// sendContext copies the tree without what .dockerignore leaves out.
func sendContext(t *testing.T, to string) {
	t.Helper()
	patterns := strings.Fields(read(t, ".dockerignore"))
	ignored := func(name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			anywhere, ok := strings.CutPrefix(pattern, "**/")
			if strings.ContainsAny(anywhere, "!/") {
				t.Fatalf(".dockerignore: this test does not know %s", pattern)
			}
			of := name
			if ok {
				of = path.Base(name)
			}
			match, err := path.Match(anywhere, of)
			if err != nil {
				t.Fatalf(".dockerignore: %s: %v", pattern, err)
			}
			return match
		})
	}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil || relative == "." {
			return err
		}
		switch {
		case ignored(filepath.ToSlash(relative)):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.Mkdir(filepath.Join(to, relative), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, relative), text, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRuns is compose.yaml without containers.
func TestRuns(t *testing.T) {
	p := load(t)
	out := build(t, "9.8.7")
	program := filepath.Join(out, "guardrails-provider")

	version, err := exec.Command(program, "version", "--json").Output()
	if err != nil || !bytes.Contains(version, []byte(`"version":"9.8.7"`)) {
		t.Errorf("version: %v: %s", err, version)
	}
	if runtime.GOOS == "linux" {
		for _, name := range []string{"guardrails-provider", "ready"} {
			static(t, filepath.Join(out, name))
		}
	}
	knownFlags(t, program, service(t, p, "provider").Command)

	url := startNATS(t, p)
	var replicas []*replica
	for range *service(t, p, "provider").Deploy.Replicas {
		replicas = append(replicas, startReplica(t, p, program, url))
	}
	test := service(t, p, "provider").HealthCheck.Test
	probe := func(r *replica) error {
		return exec.Command(filepath.Join(out, path.Base(test[1])), strings.Replace(test[2], "127.0.0.1:8080", r.health, 1)).Run()
	}
	for i, r := range replicas {
		if err := probe(r); err != nil {
			t.Errorf("the health check of replica %d: %v", i, err)
		}
	}

	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for i := range 20 {
		decided(t, nc, i, "README.md", "allow")
		decided(t, nc, i, "/etc/passwd", "block")
	}
	// A rolling restart: one goes, and what comes meanwhile is answered.
	stopped := make(chan error, 1)
	go func() { stopped <- replicas[0].stop() }()
	for i := 20; ; i++ {
		decided(t, nc, i, "README.md", "allow")
		select {
		case err := <-stopped:
			if err != nil {
				t.Errorf("after SIGTERM: %v", err)
			}
		default:
			continue
		}
		break
	}
	for i := range 20 {
		decided(t, nc, 1000000+i, "README.md", "allow")
	}
	if err := probe(replicas[0]); err == nil {
		t.Error("the health check of a provider that has ended succeeds")
	}
	if err := replicas[1].stop(); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

func static(t *testing.T, program string) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s needs a dynamic loader, which the image does not have", filepath.Base(program))
		}
	}
}

func knownFlags(t *testing.T, program string, command []string) {
	t.Helper()
	if len(command) == 0 || command[0] != "serve" {
		t.Fatalf("the provider's command is %q", command)
	}
	help, err := exec.Command(program, "serve", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range command[1:] {
		name, _, ok := strings.Cut(word, "=")
		if !ok || !regexp.MustCompile(`(?m)^\s+`+regexp.QuoteMeta(name)+`[= ]`).Match(help) {
			t.Errorf("serve --help does not know %s", word)
		}
	}
}

// startNATS runs the server with the model's configuration file, on other ports
// and in another folder, and asks it as the model's health check does.
func startNATS(t *testing.T, p *types.Project) string {
	t.Helper()
	s := service(t, p, "nats")
	if len(s.Command) != 3 || s.Command[0] != "nats-server" || s.Command[1] != "--config" {
		t.Fatalf("the command of nats is %q", s.Command)
	}
	opts, err := server.ProcessConfigFile(mounted(t, s, s.Command[2]))
	if err != nil {
		t.Fatal(err)
	}
	if !opts.JetStream || opts.StoreDir != "/data" || opts.Port != 4222 || opts.HTTPPort != 8222 {
		t.Errorf("JetStream %t in %s, ports %d and %d", opts.JetStream, opts.StoreDir, opts.Port, opts.HTTPPort)
	}
	opts.Host, opts.Port, opts.StoreDir = "127.0.0.1", server.RANDOM_PORT, t.TempDir()
	opts.HTTPHost, opts.HTTPPort = "127.0.0.1", server.RANDOM_PORT
	opts.NoSigs, opts.NoLog = true, true
	ns, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	t.Cleanup(func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	})
	if !ns.ReadyForConnections(10 * time.Second) {
		t.Fatal("nats is not ready")
	}
	test := s.HealthCheck.Test
	health := strings.Replace(test[len(test)-1], "127.0.0.1:8222", ns.MonitorAddr().String(), 1)
	answer, err := http.Get(health)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s: %s", health, answer.Status, text)
	}
	return ns.ClientURL()
}

type replica struct {
	cmd    *exec.Cmd
	health string
	read   chan struct{} // closed when its output has ended
	log    bytes.Buffer
}

// startReplica runs the provider with the model's command, where the addresses and
// paths of the container stand for those of this machine.
func startReplica(t *testing.T, p *types.Project, program, url string) *replica {
	t.Helper()
	s := service(t, p, "provider")
	args := slices.Clone(s.Command)
	for i, word := range args {
		switch {
		case word == "--nats=nats://nats:4222":
			args[i] = "--nats=" + url
		case strings.HasPrefix(word, "--policy="):
			args[i] = "--policy=" + mounted(t, s, flagOf(t, p, "policy"))
		case word == "--http=0.0.0.0:8080":
			args[i] = "--http=127.0.0.1:0"
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	r := &replica{cmd: exec.CommandContext(ctx, program, args...), read: make(chan struct{})}
	r.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GUARDRAILS_") })
	r.cmd.Stderr = &r.log
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = r.cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for r.health == "" && lines.Scan() {
		if address, ok := strings.CutPrefix(lines.Text(), "Health: http://"); ok {
			r.health, _, _ = strings.Cut(address, "/")
		}
	}
	go func() {
		defer close(r.read)
		for lines.Scan() {
		}
	}()
	if r.health == "" {
		<-r.read
		_ = r.cmd.Wait()
		t.Fatalf("the provider does not say where its health is\n%s", &r.log)
	}
	return r
}

func (r *replica) stop() error {
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	<-r.read
	if err := r.cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, &r.log)
	}
	return nil
}

func decided(t *testing.T, nc *nats.Conn, i int, name, want string) {
	t.Helper()
	check := fmt.Sprintf(`{"protocolVersion":"1","requestId":"%s %d","caller":{"extensionId":"compose"},"action":{"resource":{"kind":"file"},"operation":"write","targets":[{"path":%q}]},"context":{"cwd":"/repo"}}`, name, i, name)
	msg, err := nc.Request("guardrails.check", []byte(check), 2*time.Second)
	if err != nil {
		t.Fatalf("check %d: %v", i, err)
	}
	var d struct{ Decision, Reason string }
	if err := json.Unmarshal(msg.Data, &d); err != nil || d.Decision != want {
		t.Fatalf("%s is %s (%s), not %s: %v", name, d.Decision, d.Reason, want, err)
	}
}
