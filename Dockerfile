# syntax=docker/dockerfile:1
# Image of the program, for watchers and workers of runs on many machines. See docs/guide/scale.md. `scripts/check-image` lints it, builds the program in
# the same way and runs it in an empty file system.
FROM rust:1.97-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates clang cmake libclang-dev make pkg-config \
    && rm -rf /var/lib/apt/lists/* \
    && mkdir -p /root-of-image/tmp /root-of-image/home/evals
WORKDIR /source
COPY . .
# Linked statically, so that the image needs no system, and other images can copy the program.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/source/target \
    host="$(rustc --print host-tuple)" \
    && RUSTFLAGS="-C target-feature=+crt-static" cargo build --locked --release --package bardo-eval --bin bardo-eval --target "$host" \
    && cp "target/$host/release/bardo-eval" /bardo-eval

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=10001:10001 /root-of-image/ /
COPY --from=build /bardo-eval /usr/local/bin/bardo-eval
ENV HOME=/home/evals PATH=/usr/local/bin
USER 10001:10001
WORKDIR /home/evals
# A worker finishes its trials in flight when it is asked to stop.
STOPSIGNAL SIGTERM
ENTRYPOINT ["bardo-eval"]
CMD ["work"]
