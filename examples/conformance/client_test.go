package conformance_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"
)

// wait is how long a client waits for whatever comes next.
const wait = 5 * time.Second

// client speaks the NATS client protocol by hand.
type client struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
	sids int
}

// message is one that came: MSG, or HMSG with its headers.
type message struct {
	subject, sid, reply string
	status              string // of the header's first line, such as 503
	header              textproto.MIMEHeader
	body                string
}

func dial(t *testing.T, url string) *client {
	t.Helper()
	conn, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "nats://"), wait)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := &client{t: t, conn: conn, in: bufio.NewReader(conn)}
	if info := c.line(); !strings.HasPrefix(info, "INFO {") {
		t.Fatalf("the server begins with %q", info)
	}
	c.send("CONNECT {\"verbose\":false,\"pedantic\":true,\"headers\":true,\"no_responders\":true,\"lang\":\"by hand\",\"version\":\"1\",\"protocol\":1}\r\n")
	c.flush()
	return c
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, text); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) line() string {
	c.t.Helper()
	if err := c.conn.SetDeadline(time.Now().Add(wait)); err != nil {
		c.t.Fatal(err)
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		c.t.Fatalf("reading: %v", err)
	}
	return strings.TrimSuffix(line, "\r\n")
}

// subscribe returns the subscription's id. The server knows it when it returns.
func (c *client) subscribe(subject string) string {
	c.t.Helper()
	c.sids++
	sid := strconv.Itoa(c.sids)
	c.send("SUB " + subject + " " + sid + "\r\n")
	c.flush()
	return sid
}

func (c *client) unsubscribe(sid string) {
	c.t.Helper()
	c.send("UNSUB " + sid + "\r\n")
}

// flush returns when the server has read everything so far. It must not be
// called while a message may come.
func (c *client) flush() {
	c.t.Helper()
	c.send("PING\r\n")
	for {
		switch line := c.line(); {
		case line == "PONG":
			return
		case strings.HasPrefix(line, "INFO "):
		default:
			c.t.Fatalf("in place of PONG came %q", line)
		}
	}
}

// publish sends PUB, or HPUB where there are headers: pairs of name and value.
func (c *client) publish(subject, reply, body string, header ...string) {
	c.t.Helper()
	at := subject
	if reply != "" {
		at += " " + reply
	}
	if len(header) == 0 {
		c.send(fmt.Sprintf("PUB %s %d\r\n%s\r\n", at, len(body), body))
		return
	}
	head := "NATS/1.0\r\n"
	for i := 0; i < len(header); i += 2 {
		head += header[i] + ": " + header[i+1] + "\r\n"
	}
	head += "\r\n"
	c.send(fmt.Sprintf("HPUB %s %d %d\r\n%s%s\r\n", at, len(head), len(head)+len(body), head, body))
}

// next returns the next message, whatever its subscription.
func (c *client) next() message {
	c.t.Helper()
	for {
		words := strings.Fields(c.line())
		if len(words) == 0 {
			c.t.Fatal("an empty line")
		}
		switch words[0] {
		case "PING":
			c.send("PONG\r\n")
		case "INFO":
		case "MSG", "HMSG":
			return c.payload(words)
		default:
			c.t.Fatalf("in place of a message came %q", words)
		}
	}
}

// payload reads what follows MSG subject sid [reply] size, or
// HMSG subject sid [reply] headersize size.
func (c *client) payload(words []string) message {
	c.t.Helper()
	sizes := 1
	if words[0] == "HMSG" {
		sizes = 2
	}
	if n := len(words) - sizes; n != 3 && n != 4 {
		c.t.Fatalf("malformed: %q", words)
	}
	m := message{subject: words[1], sid: words[2]}
	if len(words)-sizes == 4 {
		m.reply = words[3]
	}
	total, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		c.t.Fatal(err)
	}
	data := make([]byte, total+len("\r\n"))
	if _, err := io.ReadFull(c.in, data); err != nil {
		c.t.Fatal(err)
	}
	if sizes == 1 {
		m.body = string(data[:total])
		return m
	}
	headed, err := strconv.Atoi(words[len(words)-2])
	if err != nil || headed > total {
		c.t.Fatalf("malformed: %q", words)
	}
	m.body = string(data[headed:total])
	first, rest, _ := strings.Cut(string(data[:headed]), "\r\n")
	m.status = strings.TrimSpace(strings.TrimPrefix(first, "NATS/1.0"))
	// NATS headers have the form of MIME ones; their names are compared without case here.
	if m.header, err = textproto.NewReader(bufio.NewReader(strings.NewReader(rest))).ReadMIMEHeader(); err != nil {
		c.t.Fatalf("headers %q: %v", rest, err)
	}
	return m
}
