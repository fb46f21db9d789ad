# Sourced by .ci/new-*. Each adds one thing in a copy of the tree, prints the files that are written by hand, generates
# what follows from them, and runs the tests that concern it.
set -euo pipefail
cd "$(dirname "$0")/.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$copy"
cd "$copy"
commit() { git add -A && git -c user.name=ci -c user.email=ci@invalid -c commit.gpgsign=false commit -q -m "$1"; }
git init -q
commit before

# by_hand N prints the files that were written so far, with the lines added and removed. Their number must be N.
by_hand() {
  git add -A
  git diff --cached --numstat
  [ "$(git diff --cached --name-only | wc -l)" = "$1" ] || { echo "expected $1 files, written by hand"; exit 1; }
}

# cli FLAG… runs the tests of the command line, which also generate most of what follows from a catalogue.
cli() {
  [ -e cli.test ] || go test -c -ldflags=-w -o cli.test ./internal/cli
  (cd internal/cli && ../../cli.test "$@")
}

# script NAME runs a script of testdata/script, and looks for the script of each check.
script() { go test -ldflags=-w -run "^TestScript\$/^$1\$|^TestEveryCheckHasScripts\$" ./internal/test/script; }

# refused TEXT FLAG… runs them where something is missing: they must fail, and say TEXT.
refused() {
  local text=$1 output
  shift
  if output=$(cli "$@" 2>&1) || ! grep -qF -- "$text" <<<"$output"; then
    printf 'expected a failure that says: %s\n%s\n' "$text" "$output"
    exit 1
  fi
}
