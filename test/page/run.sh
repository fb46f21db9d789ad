#!/usr/bin/env bash
# Opens sample pages of the html report in headless Chromium: load time, accessibility, hostile text, phone width.
# Where Chromium, node or the packages cannot be had it says NOT CHECKED and ends well. With a directory as argument
# the screenshots are kept there, to be looked at.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
  echo "NOT CHECKED: the html report in a browser: $*"
  exit 0
}

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip "there is no Chromium"
command -v node >/dev/null && command -v npm >/dev/null || skip "there is no node with npm"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shots=${1:+$(mkdir -p "$1" && cd "$1" && pwd)}

mkdir "$work/samples"
go run ./test/page "$work/samples"
cp test/page/page.mjs "$work"
cd "$work"
echo '{"private": true}' >package.json
npm install --silent --no-audit --no-fund --ignore-scripts --legacy-peer-deps \
  puppeteer-core@24.43.1 @axe-core/puppeteer@4.13.0 axe-core@4.13.0 >npm.log 2>&1 ||
  { cat npm.log; skip "npm packages are out of reach"; }

PUPPETEER_EXECUTABLE_PATH=$browser node page.mjs samples "${shots:-}"
