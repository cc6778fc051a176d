# docker build --build-arg VERSION=1.2.3 -t guardrails-provider .
# VERSION is a semantic version without a leading v (the nats CLI refuses others);
# left out, it is the source's own.
ARG GO_VERSION=1.26.8
FROM golang:${GO_VERSION}-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w ${VERSION:+-X main.Version=$VERSION}" -o /out/ ./cmd/guardrails-provider ./examples/compose/ready
RUN mkdir /state

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/guardrails-provider /out/ready /
# Only the embedded NATS server writes, and only here.
COPY --from=build --chown=65532:65532 /state /state
ENV XDG_STATE_HOME=/state
USER 65532:65532
ENTRYPOINT ["/guardrails-provider"]
CMD ["serve"]
