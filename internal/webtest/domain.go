package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Domain is what RDAP and WHOIS say of a registrable domain.
type Domain struct {
	Registered string  `json:"registered"` // RFC 3339; empty: the servers know the domain and no date
	Events     []Event `json:"events"`     // of RDAP, after that of the registration
	LDHName    string  `json:"ldh_name"`   // in the RDAP object, where it is not the name asked for

	WHOISRegistered string `json:"whois_registered"` // where WHOIS tells another date; "none": no date

	RDAP  *Behaviour `json:"rdap"`  // in place of the RDAP object; with neither status nor body: before it
	WHOIS *Behaviour `json:"whois"` // in place of the WHOIS text; Status, Header and the like do nothing
}

// Event is an event of an RDAP object (RFC 9083 section 4.5).
type Event struct {
	Action string `json:"eventAction"`
	Date   string `json:"eventDate"`
}

func (w *Web) answerRDAP(rw http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, "/domain/")
	name = strings.ToLower(name)
	w.mu.Lock()
	d, known := w.domains[name]
	n := w.note("rdap " + name)
	w.mu.Unlock()
	b := Behaviour{Status: http.StatusNotFound, Body: []byte(`{"errorCode":404,"title":"Not Found"}`)}
	switch {
	case !ok || !known:
	case d.RDAP == nil:
		b = Behaviour{Body: d.object(name)}
	default:
		b = d.RDAP.nth(n)
		if b.Status == 0 && b.Body == nil && b.Redirect == "" {
			b.Body = d.object(name)
		}
	}
	header := map[string]string{"Content-Type": "application/rdap+json"}
	for k, v := range b.Header {
		header[k] = v
	}
	b.Header = header
	w.reply(rw, r, b)
}

// object is a domain object in the shape of RFC 9083 section 5.3.
func (d Domain) object(name string) []byte {
	events := []Event{}
	if d.Registered != "" {
		events = append(events, Event{"registration", d.Registered})
	}
	events = append(events, d.Events...)
	events = append(events, Event{"last update of RDAP database", "2026-01-01T00:00:00Z"})
	if d.LDHName != "" {
		name = d.LDHName
	}
	text, err := json.Marshal(struct {
		Conformance []string `json:"rdapConformance"`
		Class       string   `json:"objectClassName"`
		Handle      string   `json:"handle"`
		LDHName     string   `json:"ldhName"`
		Status      []string `json:"status"`
		Events      []Event  `json:"events"`
	}{[]string{"rdap_level_0"}, "domain", "D1-TEST", name, []string{"active"}, events})
	if err != nil {
		panic(err) // strings alone always marshal
	}
	return text
}

func (w *Web) acceptWHOIS() {
	for {
		c, err := w.whois.Accept()
		if err != nil {
			return
		}
		w.goTracked(func() { w.answerWHOIS(c) })
	}
}

func (w *Web) answerWHOIS(c net.Conn) {
	defer c.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.SetReadDeadline(time.Now().Add(time.Minute))
	line, err := bufio.NewReader(io.LimitReader(c, 1<<10)).ReadString('\n')
	fields := strings.Fields(strings.TrimLeft(line, "="))
	if err != nil || len(fields) == 0 {
		return
	}
	name := strings.ToLower(fields[len(fields)-1]) // the words before it are options of some servers
	w.mu.Lock()
	d, known := w.domains[name]
	n := w.note("whois " + name)
	w.mu.Unlock()
	b := Behaviour{Body: []byte(d.whoisText(name))}
	if !known {
		b.Body = []byte("No match for \"" + strings.ToUpper(name) + "\".\r\n")
	} else if d.WHOIS != nil {
		b = d.WHOIS.nth(n)
	}
	if !w.wait(ctx, w.delay+time.Duration(b.Delay)) {
		return
	}
	if b.Reset {
		reset(c)
		return
	}
	w.body(ctx, c, b)
}

func (d Domain) whoisText(name string) string {
	date := d.Registered
	if d.WHOISRegistered != "" {
		date = d.WHOISRegistered
	}
	text := fmt.Sprintf("Domain Name: %s\r\nRegistry Domain ID: D1-TEST\r\n", strings.ToUpper(name))
	if date != "" && date != "none" {
		text += "Creation Date: " + date + "\r\n"
	}
	return text + "Registrar: Example Registrar\r\nDomain Status: ok\r\n"
}
