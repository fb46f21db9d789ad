package pytoken

import (
	"strings"
	"testing"
)

// module is a skill of usual shape.
const usual = `"""Looks up orders."""
from __future__ import annotations

import os
from pathlib import Path

from gitagent import SkillError, skill

BASE = os.environ.get("ORDERS_URL", "https://orders.example")


@skill(
    name="find_order",
    description="Looks up an order by its number. Use it when the user asks where an order is.",
)
def find_order(number: str, verbose: bool = False) -> dict:
    """Looks up an order.

    The number is as it stands on the invoice.
    """
    if not number.isdigit():
        raise SkillError(f"{number!r} is no number of an order")
    result = {"number": number, "url": f"{BASE}/orders/{number}"}
    for key, value in sorted(result.items()):
        if verbose and value != "":  # say it
            print(f"{key:>20}: {value}")
    return result
`

func BenchmarkUsual(b *testing.B) {
	text := []byte(strings.Repeat(usual, 20))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Scan(text)
		if err != nil {
			b.Fatal(err)
		}
		m, err := s.Module(everything, func(name string) bool { return name == "os.environ.get" })
		if err != nil || len(m.Functions) != 20 || len(m.Uses) != 20 {
			b.Fatal(m, err)
		}
	}
}

func BenchmarkCalls(b *testing.B) {
	text := []byte(strings.Repeat("f()\n", MaxBytes/4))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := Scan(text)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Module(everything, func(string) bool { return false }); err != nil {
			b.Fatal(err)
		}
	}
}
