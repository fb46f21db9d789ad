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

// Domain is what RDAP and WHOIS say about a registrable domain.
type Domain struct {
	Registered string  `json:"registered"` // RFC 3339; empty: the servers know the domain and no date
	Events     []Event `json:"events"`     // of RDAP, after that of the registration
	LDHName    string  `json:"ldh_name"`   // in the RDAP object, where it is not the name asked for

	WHOISRegistered string `json:"whois_registered"` // if WHOIS says another date; "none": no date

	RDAP  *Behaviour `json:"rdap"`  // replaces the RDAP object; with neither status nor body: before it
	WHOIS *Behaviour `json:"whois"` // replaces the WHOIS text; Status, Header and the like do nothing
}

// Event is an event of an RDAP object (RFC 9083 section 4.5).
type Event struct {
	Action string `json:"eventAction"`
	Date   string `json:"eventDate"`
}

func (w *Web) answerRDAP(rw http.ResponseWriter, r *http.Request) {
	b := noDomain
	if name, ok := strings.CutPrefix(r.URL.Path, "/domain/"); ok {
		b = w.RDAP(name)
	}
	header := map[string]string{"Content-Type": "application/rdap+json"}
	for k, v := range b.Header {
		header[k] = v
	}
	b.Header = header
	w.reply(rw, r, b)
}

var noDomain = Behaviour{Status: http.StatusNotFound, Body: []byte(`{"errorCode":404,"title":"Not Found"}`)}

// RDAP returns how the next RDAP query for a domain is answered.
func (w *Web) RDAP(name string) Behaviour {
	name = strings.ToLower(name)
	d, known, n := w.domain("rdap", name)
	switch {
	case !known:
		return noDomain
	case d.RDAP == nil:
		return Behaviour{Body: d.object(name)}
	}
	b := d.RDAP.nth(n)
	if b.Status == 0 && b.Body == nil && b.Redirect == "" {
		b.Body = d.object(name)
	}
	return b
}

// WHOIS returns how the next WHOIS query for a domain is answered.
func (w *Web) WHOIS(name string) Behaviour {
	name = strings.ToLower(name)
	switch d, known, n := w.domain("whois", name); {
	case !known:
		return Behaviour{Body: []byte("No match for \"" + strings.ToUpper(name) + "\".\r\n")}
	case d.WHOIS != nil:
		return d.WHOIS.nth(n)
	default:
		return Behaviour{Body: []byte(d.whoisText(name))}
	}
}

func (w *Web) domain(protocol, name string) (d Domain, known bool, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	d, known = w.domains[name]
	return d, known, w.note(protocol + " " + name)
}

// object returns a domain object in the shape of RFC 9083 section 5.3.
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
		panic(err) // strings always marshal
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
	defer context.AfterFunc(w.open, func() { c.Close() })()
	c.SetReadDeadline(time.Now().Add(time.Minute))
	line, err := bufio.NewReader(io.LimitReader(c, 1<<10)).ReadString('\n')
	fields := strings.Fields(strings.TrimLeft(line, "="))
	if err != nil || len(fields) == 0 {
		return
	}
	b := w.WHOIS(fields[len(fields)-1]) // the words before it are options of some servers
	if !wait(w.open, w.delay+time.Duration(b.Delay)) {
		return
	}
	if b.Reset {
		reset(c)
		return
	}
	body(w.open, c, b)
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
