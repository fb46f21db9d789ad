#!/usr/bin/env bash
# Builds the image twice and tries it as GitHub's runner runs it; runs the Action in a composite one under act; has
# GitHub's own parser read action.yml. What this machine cannot do is said in a line that begins with NOT TRIED.
#
# GO_IMAGE names the image to build with. Where it is empty, one is made of this machine's own Go and the modules that
# it has downloaded, so that nothing is pulled; and of the build cache COLD, where that directory exists.
set -euo pipefail
cd "$(dirname "$0")/../.."

ACT=github.com/nektos/act@v0.2.89
ACTIONLINT=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
PARSER=@actions/workflow-parser@0.3.61
ESBUILD=esbuild@0.28.2

temp=$(mktemp -d)
chmod 755 "$temp"
skipped=0

not_tried() {
  printf '\n*** NOT TRIED: %s\n' "$*" >&2
  skipped=$((skipped + 1))
}

finish() {
  local status=$?
  set +e
  if [ -f "$temp/docker/pid" ]; then
    kill "$(cat "$temp/docker/pid")" && while [ -f "$temp/docker/pid" ]; do sleep 0.2; done
    umount "$temp/docker/exec/netns/default" 2>/dev/null # the daemon leaves it behind
  fi
  umount -R "$temp/buildah/overlay" 2>/dev/null # where buildah was ended
  rm -rf --one-file-system "$temp"
  exit $status
}
trap finish EXIT

install_missing() {
  local missing=()
  command -v buildah >/dev/null || missing+=(buildah)
  command -v dockerd >/dev/null || missing+=(docker.io)
  [ -n "$(command -v busybox)" ] || missing+=(busybox-static)
  [ ${#missing[@]} -eq 0 ] && return
  if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$temp/apt.log" 2>&1 ||
      { tail -5 "$temp/apt.log"; echo "NOT INSTALLED: ${missing[*]}"; }
  else
    echo "NOT INSTALLED: ${missing[*]}"
  fi
}

# go_tree makes a root file system with Go, a shell, the modules of go.mod, certificates and a build cache.
go_tree() {
  local root=$1 go
  go=$(go env GOROOT)
  mkdir -p "$root"/{bin,tmp,root,etc/ssl/certs,usr/local/go,go/pkg/mod}
  chmod 1777 "$root/tmp"
  cp "$(command -v busybox)" "$root/bin/busybox"
  for name in sh cp mkdir cat ls rm; do ln -s busybox "$root/bin/$name"; done
  # Where layers cannot be laid over one another, each step of a build copies all of it.
  tar -C "$go" --exclude src/cmd --exclude testdata --exclude '*_test.go' -c bin/go src VERSION LICENSE PATENTS go.env pkg/include \
    "pkg/tool/$(go env GOOS)_$(go env GOARCH)"/{asm,compile,link} | tar -C "$root/usr/local/go" -x
  [ ! -d "${COLD:-}" ] || cp -r "$COLD" "$root/go/cache"
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  GOMODCACHE="$root/go/pkg/mod" GOPROXY="file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)" GOFLAGS=-modcacherw go mod download
}

buildah_here() { buildah --root "$temp/buildah" --runroot "$temp/buildah-run" "$@"; }

# build makes the image of the tree in $2 and prints its digest; $1 names it and its archive.
build() {
  buildah_here bud -q --isolation chroot --timestamp 0 --no-cache --identity-label=false --build-arg "GO_IMAGE=$GO_IMAGE" --build-arg VERSION=v0.0.0-test -t "$1" "$2" >/dev/null
  buildah_here push -q --digestfile "$temp/$1.digest" "$1" "docker-archive:$temp/$1.tar:$1:test"
  cat "$temp/$1.digest"
}

can_build() {
  if ! buildah_here from --name probe scratch >/dev/null 2>"$temp/probe.log"; then
    not_tried "the image: buildah does not work here: $(tail -1 "$temp/probe.log")"
    return 1
  fi
  if [ -z "${GO_IMAGE:-}" ] && ! command -v busybox >/dev/null; then
    not_tried "the image: no GO_IMAGE is given, and there is no busybox to make one with"
    return 1
  fi
}

make_image() {
  local first second
  if [ -z "${GO_IMAGE:-}" ]; then
    GO_IMAGE=localhost/oap-gate-go
    mkdir "$temp/stand-in"
    go_tree "$temp/stand-in/root"
    printf 'FROM scratch\nCOPY root /\nENV PATH=/usr/local/go/bin:/bin GOPATH=/go GOCACHE=/go/cache GOTOOLCHAIN=local GOPROXY=off\n' >"$temp/stand-in/Dockerfile"
    buildah_here bud -q --isolation chroot -t "$GO_IMAGE" "$temp/stand-in" >/dev/null
    rm -rf "$temp/stand-in"
  fi
  first=$(build oap-gate .)
  echo "image $first"
  # The second time from the tree of a release, whose action.yml names the image.
  mkdir "$temp/release"
  git ls-files -z | xargs -0 cp --parents -t "$temp/release"
  "$temp/release/.ci/release-pin" "ghcr.io/openagentprotocol-oap/oap-gate@$first"
  ! cmp -s action.yml "$temp/release/action.yml" || { echo "action.yml was not pinned"; exit 1; }
  second=$(build oap-gate-again "$temp/release")
  [ "$first" = "$second" ] || { echo "the image is not reproducible, or pinning it changes it: $first, then $second"; exit 1; }
}

# classic builds with Docker's classic builder, whose image has times in it, and compares the binary.
classic() {
  if ! docker image inspect "$GO_IMAGE" >/dev/null 2>&1 && [ "$GO_IMAGE" = localhost/oap-gate-go ]; then
    buildah_here push -q "$GO_IMAGE" "docker-archive:$temp/go.tar:$GO_IMAGE"
    docker load -q -i "$temp/go.tar"
    rm "$temp/go.tar"
  fi
  DOCKER_BUILDKIT=0 docker build -q --network host --build-arg "GO_IMAGE=$GO_IMAGE" --build-arg VERSION=v0.0.0-test -t oap-gate:classic . 2>"$temp/classic.log" ||
    { cat "$temp/classic.log"; exit 1; }
  local name id
  for name in test classic; do
    id=$(docker create --network none "oap-gate:$name")
    docker cp -q "$id:/oap-gate" "$temp/oap-gate-$name"
    docker rm "$id" >/dev/null
  done
  cmp "$temp/oap-gate-test" "$temp/oap-gate-classic"
  echo "the binary is the same"
}

start_docker() {
  docker info >/dev/null 2>&1 && return
  command -v dockerd >/dev/null || { not_tried "running the image: no docker daemon"; return 1; }
  mkdir "$temp/docker"
  export DOCKER_HOST=unix://$temp/docker/socket
  dockerd --host "$DOCKER_HOST" --data-root "$temp/docker/data" --exec-root "$temp/docker/exec" --pidfile "$temp/docker/pid" \
    --iptables=false --ip6tables=false --bridge=none >"$temp/docker.log" 2>&1 &
  for _ in $(seq 100); do
    docker info >/dev/null 2>&1 && return
    sleep 0.3
  done
  not_tried "running the image: the docker daemon does not start: $(tail -1 "$temp/docker.log")"
  return 1
}

install_act() {
  if command -v act >/dev/null; then
    OAP_GATE_ACT=$(command -v act)
  else
    GOBIN="$temp/bin" go install "$ACT" 2>"$temp/act.log" && OAP_GATE_ACT=$temp/bin/act
  fi
}

install_parser() {
  command -v npm >/dev/null || { echo "no npm"; return 1; }
  mkdir "$temp/npm"
  cp test/action/parse.mjs "$temp/npm/"
  (cd "$temp/npm" && npm install --ignore-scripts --no-save "$PARSER" "$ESBUILD" &&
    npx esbuild parse.mjs --bundle --platform=node --format=cjs --outfile=parse.cjs) >"$temp/npm.log" 2>&1 || { tail -1 "$temp/npm.log"; return 1; }
}

printf '\n== action.yml and the workflows, by GitHub'"'"'s parser\n'
if install_parser; then
  node "$temp/npm/parse.cjs" action.yml test/action/composite/action.yml test/action/*.yml .github/workflows/*.yml docs/workflows/*.yml
else
  not_tried "GitHub's own parser of action.yml and of the workflows"
fi

printf '\n== a use of the Action, by actionlint\n'
go run "$ACTIONLINT" test/action/uses.yml

printf '\n== a job with the Action in it, by act\n'
if install_act; then
  OAP_GATE_ACT=$OAP_GATE_ACT go test -count=1 -run Act ./test/action
else
  not_tried "act: $(tail -1 "$temp/act.log")"
fi

printf '\n== the image, built twice\n'
install_missing
if can_build; then
  make_image
  printf '\n== the image as the runner runs it\n'
  if start_docker; then
    docker load -q -i "$temp/oap-gate.tar"
    OAP_GATE_IMAGE=oap-gate:test go test -count=1 ./test/action
    printf '\n== the image, by the classic builder\n'
    classic
  fi
fi

if [ "$skipped" -gt 0 ]; then
  printf '\n*** the Action: %s of its trials were NOT MADE, see above\n' "$skipped" >&2
fi
