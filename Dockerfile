# syntax=docker/dockerfile:1
# Image of the program, for watchers and workers of runs on many machines. See docs/guide/scale.md.
FROM rust:1.97-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends clang cmake libclang-dev make pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/source/target \
    cargo build --locked --release --package bardo-eval --bin bardo-eval \
    && cp target/release/bardo-eval /bardo-eval

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --create-home evals
COPY --from=build /bardo-eval /usr/local/bin/bardo-eval
USER evals
WORKDIR /home/evals
# A worker finishes its trials in flight when it is asked to stop.
STOPSIGNAL SIGTERM
ENTRYPOINT ["bardo-eval"]
CMD ["work"]
