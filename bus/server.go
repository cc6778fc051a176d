package bus

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"
)

// ServerConfig is how an embedded server runs.
type ServerConfig struct {
	// Listen is host:port; port 0 takes any free one. Ignored with ConfigFile,
	// whose own address counts.
	Listen string
	// DataDir is where JetStream stores what it keeps. It is made where it is
	// missing, and one process has it at a time.
	DataDir string
	// ConfigFile is a file in the NATS server's own format; empty: none.
	ConfigFile string
	Log        zerolog.Logger
}

// Errors of StartServer.
var (
	// ErrListen is returned when the address can't be listened on.
	ErrListen = errors.New("cannot listen")
	// ErrDataDir is returned when the data directory can't be used.
	ErrDataDir = errors.New("cannot use the data directory")
)

// maxPayload lets a message that is too large for the protocol arrive, so that
// it gets an answer instead of the loss of its connection.
const maxPayload = 8 << 20

// startWait bounds how long a server may take to be ready.
const startWait = 10 * time.Second

// Server is an embedded NATS server with JetStream.
type Server struct {
	ns   *server.Server
	lock *flock.Flock
}

// StartServer starts a server and returns when it takes connections.
func StartServer(cfg ServerConfig) (*Server, error) {
	opts, err := serverOptions(cfg)
	if err != nil {
		return nil, err
	}
	// A port that is taken is the mistake that people make: find it before the
	// server starts, which takes it for the end of the process.
	if !opts.DontListen {
		if err := probe(opts.Host, opts.Port); err != nil {
			return nil, err
		}
	}
	s := new(Server)
	if opts.JetStream {
		if s.lock, err = lockDir(opts.StoreDir); err != nil {
			return nil, err
		}
	}
	if s.ns, err = server.NewServer(opts); err != nil {
		s.unlock()
		return nil, fmt.Errorf("nats server: %w", err)
	}
	log := &serverLog{log: cfg.Log, fatal: make(chan string, 1)}
	s.ns.SetLoggerV2(log, false, false, false)
	s.ns.Start()
	ready := make(chan bool, 1)
	go func() { ready <- s.ns.ReadyForConnections(startWait) }()
	select {
	case message := <-log.fatal:
		err = fmt.Errorf("nats server: %s", message)
	case ok := <-ready:
		if ok {
			return s, nil
		}
		err = fmt.Errorf("nats server: not ready within %v", startWait)
		select {
		case message := <-log.fatal:
			err = fmt.Errorf("nats server: %s", message)
		default:
		}
	}
	s.Stop()
	return nil, err
}

func serverOptions(cfg ServerConfig) (*server.Options, error) {
	opts := &server.Options{MaxPayload: maxPayload}
	if cfg.ConfigFile != "" {
		var err error
		if opts, err = server.ProcessConfigFile(cfg.ConfigFile); err != nil {
			return nil, fmt.Errorf("nats config: %w", err)
		}
	} else {
		host, port, err := net.SplitHostPort(cfg.Listen)
		if err != nil {
			return nil, fmt.Errorf("%w on %q: write host:port, such as 127.0.0.1:4222", ErrListen, cfg.Listen)
		}
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return nil, fmt.Errorf("%w on %q: the port must be a number from 0 to 65535", ErrListen, cfg.Listen)
		}
		opts.Host, opts.Port = host, int(number)
		if number == 0 {
			opts.Port = server.RANDOM_PORT
		}
		opts.JetStream = true
	}
	if opts.ServerName == "" {
		opts.ServerName = "guardrails-provider"
	}
	if opts.JetStream && opts.StoreDir == "" {
		opts.StoreDir = cfg.DataDir
	}
	opts.NoSigs = true // signals are the process's own business
	return opts, nil
}

func lockDir(dir string) (*flock.Flock, error) {
	if dir == "" {
		return nil, fmt.Errorf("%w: none is named", ErrDataDir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDataDir, err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrDataDir, dir, err)
	}
	if !ok {
		return nil, fmt.Errorf("%w %s: another provider is using it", ErrDataDir, dir)
	}
	return lock, nil
}

func probe(host string, port int) error {
	if port == server.RANDOM_PORT {
		port = 0
	} else if port == 0 {
		port = server.DEFAULT_PORT
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrListen, err)
	}
	return l.Close()
}

// URL returns the address for clients, such as nats://127.0.0.1:4222.
func (s *Server) URL() string { return s.ns.ClientURL() }

// inProcess is the option with which a client skips the network.
func (s *Server) inProcess() nats.Option { return nats.InProcessServer(s.ns) }

// Stop ends the server and returns when it has ended.
func (s *Server) Stop() {
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
	s.unlock()
}

func (s *Server) unlock() {
	if s.lock != nil {
		_ = s.lock.Unlock() // the end of the process frees it in any case
	}
}

// serverLog passes the server's log on. What the server takes for fatal is an
// error of the start here, and not the end of the process.
type serverLog struct {
	log   zerolog.Logger
	once  sync.Once
	fatal chan string
}

func (l *serverLog) Noticef(format string, v ...any) { l.say(zerolog.DebugLevel, format, v) }
func (l *serverLog) Warnf(format string, v ...any)   { l.say(zerolog.WarnLevel, format, v) }
func (l *serverLog) Errorf(format string, v ...any)  { l.say(zerolog.ErrorLevel, format, v) }
func (l *serverLog) Debugf(format string, v ...any)  {}
func (l *serverLog) Tracef(format string, v ...any)  {}

func (l *serverLog) Fatalf(format string, v ...any) {
	l.once.Do(func() { l.fatal <- fmt.Sprintf(format, v...) })
}

func (l *serverLog) say(level zerolog.Level, format string, v []any) {
	l.log.WithLevel(level).Str("from", "nats-server").Msg(strings.TrimSpace(fmt.Sprintf(format, v...)))
}
