# One target for each process, with only what that process needs:
#   core  core-deno  core-bun  worker  iac  sidecars (authz, mapping, notifications)
# docs/deployment.md, "Images", has the commands to build, check, sign and verify. With OpenTofu as the engine:
#   --build-arg ENGINE_IMAGE=ghcr.io/opentofu/opentofu:1.12.6-minimal@sha256:316699e0f58b1e01fb9d99252ab5dbeeac15687497ab155ceabcba8974828dd3 --build-arg ENGINE_PATH=/usr/local/bin/tofu
# A digest names the content of an image, which a tag alone does not; "npm run images" compares both with the registries.
ARG ENGINE_IMAGE=hashicorp/terraform:1.11.4@sha256:5820b87995595425074f881500a037b0ccd41158d0d9b44d78f5f120612f2d3d
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
# Where npm runs. Nothing of it but the program of a runtime comes into an image.
ARG BUILD_IMAGE=${NODE_IMAGE}
ARG ENGINE_PATH=/bin/terraform

FROM ${ENGINE_IMAGE} AS engine

# Packages of production for the platform of the image: ripgrep is a program.
FROM --platform=${BUILDPLATFORM} ${BUILD_IMAGE} AS dependencies
ARG TARGETARCH
WORKDIR /app
COPY package.json package-lock.json ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci --omit=dev --ignore-scripts --no-audit --no-fund --os=linux --libc=glibc --cpu="$(echo "${TARGETARCH}" | sed s/amd64/x64/)"

# What builds the console, and what finds the files that a process loads, stays behind here.
FROM --platform=${BUILDPLATFORM} ${BUILD_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json tsconfig.json ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci --ignore-scripts --no-audit --no-fund
COPY config config
COPY src src
COPY routes routes
COPY console console
RUN node console/build/main.ts
COPY dev/image dev/image
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json deno.json ./
COPY config config
COPY src src
COPY routes routes
COPY pipeline pipeline
COPY sidecars sidecars
# The shipped file gets the folder of the images for git directories.
RUN mkdir console && cp -r /build/console/dist console/dist \
 && node /build/dev/image/assemble.ts /app /out \
 && sed 's|^  git_folder: ""|  git_folder: /git|' config/platform.yaml > /out/config.yaml

# The system of the images: Node's without its package managers, nothing that changes the user, and no logs.
FROM ${NODE_IMAGE} AS system
ARG SOURCE_DATE_EPOCH
# Each process has a user of its own. The group is what worker and iac service share in /workspaces; the git
# directories are the worker's alone, /data is the iac service's, /roles that of the authz sidecar.
RUN groupadd --gid 10000 platform \
 && for user in core:10001 worker:10002 iac:10003 sidecar:10004; do \
      useradd --uid "${user#*:}" --gid platform --home-dir /tmp --no-create-home --shell /usr/sbin/nologin \
        "${user%:*}"; \
    done \
 && install --directory /etc/platform \
 && rm -rf /usr/local/lib/node_modules /opt/yarn-* /usr/local/include /usr/local/share/doc /usr/local/share/man \
      /usr/local/CHANGELOG.md /usr/local/README.md \
 && find /usr/local/bin -mindepth 1 ! -name node -delete \
 && rm -rf /root/.[!.]* /tmp/* /var/lib/apt/lists/* /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- \
 && find /var/log /var/cache -type f -delete \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} +

# What all images say of themselves. They have no base image, so that nothing that was removed stays in a lower layer.
FROM scratch AS image
ARG APP_VERSION=0.0.0-dev
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.vendor="platform" \
      org.opencontainers.image.licenses="UNLICENSED" \
      org.opencontainers.image.version="${APP_VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin NODE_ENV=production HOME=/tmp \
    APP_VERSION=${APP_VERSION}

FROM image AS core
LABEL org.opencontainers.image.title="platform-core" \
      org.opencontainers.image.description="HTTP API and event streams of the platform"
COPY --from=system / /
WORKDIR /app
COPY --from=build /out/core/node_modules node_modules
COPY --from=build /out/core/app ./
COPY --from=build /out/config.yaml /etc/platform/config.yaml
USER 10001:10000
EXPOSE 8000
ENTRYPOINT ["node", "--min-semi-space-size=4", "--max-semi-space-size=4", "routes/main.ts"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "src/runtime/probe.ts", "/readyz", "PLATFORM_PORT", "8000"]

# Deno and Bun in the releases that the tests run on, as their lock file pins them.
FROM --platform=${BUILDPLATFORM} ${BUILD_IMAGE} AS runtimes
ARG TARGETARCH
WORKDIR /runtimes
COPY dev/image/runtimes ./
RUN --mount=type=cache,target=/root/.npm \
    npm ci --ignore-scripts --no-audit --no-fund --os=linux --libc=glibc --cpu="$(echo "${TARGETARCH}" | sed s/amd64/x64/)" \
 && mv node_modules/@deno/linux-*-glibc/deno deno \
 && mv "$(ls -d node_modules/@oven/bun-linux-* | grep -v -e musl -e android -e baseline)/bin/bun" bun \
 && rm -rf node_modules

FROM system AS system-without-node
RUN rm /usr/local/bin/node

FROM image AS core-deno
LABEL org.opencontainers.image.title="platform-core-deno" \
      org.opencontainers.image.description="HTTP API and event streams of the platform, on Deno"
COPY --from=system-without-node / /
COPY --from=runtimes /runtimes/deno /usr/local/bin/deno
WORKDIR /app
COPY --from=build /out/core-deno/node_modules node_modules
COPY --from=build /out/core-deno/app ./
COPY --from=build /out/config.yaml /etc/platform/config.yaml
# The core needs neither a writable disk nor other programs, and here it could not use them.
ENV DENO_DIR=/tmp/deno DENO_NO_UPDATE_CHECK=1
USER 10001:10000
EXPOSE 8000
ENTRYPOINT ["deno", "run", "--no-prompt", "--no-remote", "--node-modules-dir=manual", "--allow-net", "--allow-env", "--allow-sys", "--allow-read", "routes/main.ts"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["deno", "run", "--no-prompt", "--allow-net=127.0.0.1", "--allow-env", "src/runtime/probe.ts", "/readyz", "PLATFORM_PORT", "8000"]

FROM image AS core-bun
LABEL org.opencontainers.image.title="platform-core-bun" \
      org.opencontainers.image.description="HTTP API and event streams of the platform, on Bun"
COPY --from=system-without-node / /
COPY --from=runtimes /runtimes/bun /usr/local/bin/bun
WORKDIR /app
COPY --from=build /out/core-bun/node_modules node_modules
COPY --from=build /out/core-bun/app ./
COPY --from=build /out/config.yaml /etc/platform/config.yaml
USER 10001:10000
EXPOSE 8000
ENTRYPOINT ["bun", "routes/main.ts"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["bun", "src/runtime/probe.ts", "/readyz", "PLATFORM_PORT", "8000"]

FROM system AS system-worker
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=worker --group=platform --mode=2770 /workspaces \
 && install --directory --owner=worker --group=platform --mode=0700 /git \
 && find /var/log /var/cache -type f -delete \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} +

FROM image AS worker
LABEL org.opencontainers.image.title="platform-worker" \
      org.opencontainers.image.description="Takes rounds of the platform from the queue and runs them"
COPY --from=system-worker / /
WORKDIR /app
COPY --from=build /out/worker/node_modules node_modules
COPY --from=build /out/worker/app ./
COPY --from=build /out/config.yaml /etc/platform/config.yaml
# On loopback, for the health check; PLATFORM_METRICS_HOST opens it to others.
ENV PLATFORM_METRICS_PORT=9100
USER 10002:10000
# The group of worker and iac service has access to what both make, nobody else.
ENTRYPOINT ["sh", "-c", "umask 0007 && exec node --min-semi-space-size=4 --max-semi-space-size=4 pipeline/main.ts \"$@\"", "worker"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "src/runtime/probe.ts", "/metrics", "PLATFORM_METRICS_PORT"]

# bubblewrap, passt, iproute2 and util-linux make the sandbox of engine commands; git fetches modules.
FROM system AS system-iac
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
      bubblewrap ca-certificates git iproute2 passt util-linux \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=worker --group=platform --mode=2770 /workspaces \
 && install --directory --owner=iac --group=platform --mode=0700 /data \
 && find /var/log /var/cache -type f -delete \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} +

FROM image AS iac
ARG ENGINE_PATH
LABEL org.opencontainers.image.title="platform-iac" \
      org.opencontainers.image.description="Runs the infrastructure-as-code engine of the platform as jobs"
COPY --from=system-iac / /
COPY --from=engine ${ENGINE_PATH} /usr/local/bin/
WORKDIR /app
COPY --from=build /out/iac/node_modules node_modules
COPY --from=build /out/iac/app ./
ENV IAC_DATA_DIR=/data/iac
USER 10003:10000
EXPOSE 8082
ENTRYPOINT ["sh", "-c", "umask 0007 && exec node sidecars/main.ts iac \"$@\"", "iac"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "src/runtime/probe.ts", "/healthz", "PLATFORM_PORT", "8082"]

FROM system AS system-sidecars
RUN install --directory --owner=sidecar --group=platform --mode=0700 /roles

FROM image AS sidecars
LABEL org.opencontainers.image.title="platform-sidecars" \
      org.opencontainers.image.description="The sidecars authz, mapping and notifications of the platform; the argument says which"
COPY --from=system-sidecars / /
WORKDIR /app
COPY --from=build /out/sidecars/node_modules node_modules
COPY --from=build /out/sidecars/app ./
USER 10004:10000
EXPOSE 8080 8081 8083
ENTRYPOINT ["node", "sidecars/main.ts"]
CMD ["--help"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["node", "src/runtime/probe.ts", "/healthz", "PLATFORM_PORT", "8080", "8081", "8083"]

# A build without --target makes the core.
FROM core
