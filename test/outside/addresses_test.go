package outside

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/live"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// python runs a program of Python, hands it input as JSON and reads its output as JSON.
func python(t testing.TB, program string, input, output any) {
	t.Helper()
	text, err := json.Marshal(input)
	must.OK(t, err)
	cmd := exec.Command("python3", "-I", "-W", "ignore", "-c", program)
	cmd.Stdin = strings.NewReader(string(text))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, output)
	}
	if err != nil {
		t.Fatalf("asking Python: %v: %s", err, stderr.String())
	}
}

// specialBlocks are the blocks of the IANA registries of special-purpose addresses, and of multicast.
var specialBlocks = strings.Fields(`0.0.0.0/8 0.0.0.0/32 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16
	172.16.0.0/12 192.0.0.0/24 192.0.0.0/29 192.0.0.8/32 192.0.0.9/32 192.0.0.10/32 192.0.0.170/31 192.0.2.0/24
	192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24
	203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 255.255.255.255/32 ::1/128 ::/128 ::ffff:0:0/96 64:ff9b::/96
	64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:1::1/128 2001:1::2/128 2001:1::3/128 2001:2::/48
	2001:3::/32 2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48
	3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8`)

// publicAddresses are of name servers that everyone may ask.
var publicAddresses = strings.Fields(`1.1.1.1 8.8.8.8 9.9.9.9 193.0.14.129 198.41.0.4 2001:4860:4860::8888
	2001:7fd::1 2001:503:ba3e::2:30 2606:4700:4700::1111 2620:fe::fe`)

// Versions of Python differ in which special addresses are global. So a case is many addresses: none that the gate may
// ask is known to Python as not global.
var addresses = &judge{name: "generated: addresses, ipaddress of CPython",
	of: programVersion(1, "python3", "--version"), random: true, cases: 162, sound: true, needs: []string{"python3"},
	run: func(r *run) {
		rnd := random()
		type group struct {
			id  string
			all []netip.Addr
		}
		var groups []group
		for _, text := range specialBlocks {
			block := netip.MustParsePrefix(text)
			first, last := block.Addr(), lastOf(block)
			g := group{id: text}
			for _, at := range []netip.Addr{first.Prev(), first, first.Next(), last.Prev(), last, last.Next()} {
				if at.IsValid() {
					g.all = append(g.all, at)
				}
			}
			groups = append(groups, g)
		}
		for i := range 100 {
			g := group{id: fmt.Sprint("random ", i)}
			for j := range 100 {
				var raw [16]byte
				for k := range raw {
					raw[k] = byte(rnd.Uint32())
				}
				switch j % 4 {
				case 0:
					g.all = append(g.all, netip.AddrFrom16(raw))
				case 1: // global unicast
					raw[0] = 0x20 | raw[0]&0x1f
					g.all = append(g.all, netip.AddrFrom16(raw))
				default:
					g.all = append(g.all, netip.AddrFrom4([4]byte(raw[:4])))
				}
			}
			groups = append(groups, g)
		}
		allowed, asked := [][]string{}, 0
		for _, g := range groups {
			some := []string{}
			for _, at := range g.all {
				if live.IsPublic(at) {
					some = append(some, at.String())
				}
			}
			allowed, asked = append(allowed, some), asked+len(some)
		}
		if asked < 6000 {
			r.Errorf("the gate may ask %d of the addresses; expected more than half", asked)
		}
		var wrong [][]string
		python(r, `import ipaddress, json, sys
print(json.dumps([[a for a in group if not ipaddress.ip_address(a).is_global] for group in json.load(sys.stdin)]))`,
			allowed, &wrong)
		for i, g := range groups {
			r.compare(g.id, answer{value: "[]"}, func() (string, error) { return fmt.Sprint(wrong[i]), nil })
		}
		for _, text := range publicAddresses {
			r.compare(text, accepts, func() (string, error) {
				if !live.IsPublic(netip.MustParseAddr(text)) {
					return "", fmt.Errorf("%s may not be asked", text)
				}
				return "", nil
			})
		}
	}}

// lastOf returns the last address of a block.
func lastOf(block netip.Prefix) netip.Addr {
	raw := block.Addr().AsSlice()
	for bit := block.Bits(); bit < 8*len(raw); bit++ {
		raw[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(raw)
	return last
}
