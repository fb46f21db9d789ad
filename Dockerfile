# The static binaries, certificate authorities and licence notices, nothing else. The classic builder and
# buildah both build it; GO_IMAGE is pinned by digest when a release is made.
ARG GO_IMAGE=golang:1.26
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
ARG REVISION=unknown
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false \
    -ldflags "-s -w -buildid= -X github.com/openagentprotocol-OAP/oap-gate/internal/frame.release=${VERSION} -X github.com/openagentprotocol-OAP/oap-gate/internal/frame.revision=${REVISION}" \
    -o /out/ ./cmd/... \
 && mkdir -p /out/etc/ssl/certs /out/licenses \
 && cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/ca-certificates.crt \
 && cp LICENSE NOTICE /out/licenses/ \
 && .ci/licence-texts >/out/licenses/THIRD_PARTY_LICENSES

FROM scratch
ARG VERSION=devel
ARG REVISION=unknown
LABEL org.opencontainers.image.source="https://github.com/openagentprotocol-OAP/oap-gate" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /out/ /
ENTRYPOINT ["/oap-gate"]
