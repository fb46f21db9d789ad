package opengap

import (
	"fmt"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// BenchmarkThousandSkills judges an agent with 1,000 skills, each with a test and a variable, from its files on disk.
func BenchmarkThousandSkills(b *testing.B) {
	agent := agent04.edit(files{"skills/orders.py": gone, "tests/test_orders.py": gone,
		"README.md": "ORDERS_URL is where orders are.\n"})
	for i := range 1000 {
		agent[fmt.Sprintf("skills/orders_%d.py", i)] = fmt.Sprintf(`"""Looks up orders."""
import os
from pathlib import Path

from gitagent import SkillError, skill

BASE = os.environ.get("ORDERS_URL", "https://orders.example")


@skill(
    name="find_order_%d",
    description="Looks up an order by its number. Use it when the user asks where an order is.",
)
def find_order_%d(number: str, verbose: bool = False) -> dict:
    """Looks up an order.

    The number is as it stands on the invoice.
    """
    if not number.isdigit():
        raise SkillError(f"{number!r} is no number of an order")
    result = {"number": number, "url": f"{BASE}/orders/{number}"}
    if verbose:
        print((Path(__file__).parent / "orders.txt").read_text())
    return result
`, i, i)
		agent[fmt.Sprintf("tests/test_orders_%d.py",
			i)] = fmt.Sprintf("from skills.orders_%d import find_order_%d\n\n\ndef test_find():\n"+
			"    assert find_order_%d(\"1\")\n", i, i, i)
	}
	dir := agent.write(b)
	b.ReportAllocs()
	for b.Loop() {
		j := must.Get(Judge(Options{Python: onPath(b), Dir: dir, Dialect: Auto}))(b)
		if len(j.Results) != 7+5*1000 {
			b.Fatalf("%d results", len(j.Results))
		}
	}
}
