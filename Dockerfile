# One image with both programs: the worker by default, submit by its entrypoint in docker-compose.yml.
# Plain instructions only, so that Docker's legacy builder takes it too.
FROM golang:1.26-alpine AS build
WORKDIR /src
# Where modules come from, if not from Go's default.
ARG GOPROXY
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What `git describe` says; no repository comes along.
ARG VERSION
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-X antipode/internal/version.build=$VERSION" -o /out/ ./cmd/submit ./cmd/worker
# What programs expect around them: certificates for TLS; a temporary folder; and the mount point of the volume with
# tables, which takes its owner over.
RUN mkdir -p /out/etc/ssl/certs && cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/ && mkdir -m 1777 /out/tmp && \
    mkdir /out/tables && chown 65534:65534 /out/tables

FROM scratch
COPY --from=build /out/ /
# Nobody, by number: there is no /etc/passwd to look a name up in.
USER 65534:65534
ENTRYPOINT ["/worker"]
