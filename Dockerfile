# One image for core, worker and sidecars; the command decides which it is. The engine comes from the image and path
# that two arguments name. With OpenTofu:
#   --build-arg ENGINE_IMAGE=ghcr.io/opentofu/opentofu:1.12.6-minimal@sha256:316699e0f58b1e01fb9d99252ab5dbeeac15687497ab155ceabcba8974828dd3 --build-arg ENGINE_PATH=/usr/local/bin/tofu
# A digest names the content of an image, which a tag alone does not; "npm run images" compares both with the registries.
ARG ENGINE_IMAGE=hashicorp/terraform:1.11.4@sha256:5820b87995595425074f881500a037b0ccd41158d0d9b44d78f5f120612f2d3d
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
ARG ENGINE_PATH=/bin/terraform

FROM ${ENGINE_IMAGE} AS engine

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# What builds the console stays behind; its files alone come into the image.
FROM ${NODE_IMAGE} AS console
WORKDIR /app
COPY package.json package-lock.json tsconfig.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY console console
RUN node console/build/main.ts

FROM ${NODE_IMAGE}
ARG ENGINE_PATH
ARG APP_VERSION=0.0.0-dev
# bubblewrap, passt, iproute2 and util-linux make the sandbox of engine commands.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends \
      bubblewrap ca-certificates git iproute2 passt util-linux \
 && rm -rf /var/lib/apt/lists/*
# Each process has a user of its own. The group is what worker and iac service share in /workspaces; the git
# directories are the worker's alone, /data is the iac service's, /roles that of the authz sidecar.
RUN groupadd --gid 10000 platform \
 && for user in core:10001 worker:10002 iac:10003 sidecar:10004; do \
      useradd --uid "${user#*:}" --gid platform --home-dir /tmp --no-create-home --shell /usr/sbin/nologin \
        "${user%:*}"; \
    done \
 && install --directory --owner=worker --group=platform --mode=2770 /workspaces \
 && install --directory --owner=worker --group=platform --mode=0700 /git \
 && install --directory --owner=iac --group=platform --mode=0700 /data \
 && install --directory --owner=sidecar --group=platform --mode=0700 /roles
COPY --from=engine ${ENGINE_PATH} /usr/local/bin/
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY config config
COPY src src
COPY routes routes
COPY pipeline pipeline
COPY sidecars sidecars
COPY --from=console /app/console/dist console/dist
# The shipped file, with the folder of this image for git directories.
RUN mkdir /etc/platform \
 && sed 's|^  git_folder: ""|  git_folder: /git|' config/platform.yaml > /etc/platform/config.yaml
ENV NODE_ENV=production APP_VERSION=${APP_VERSION} IAC_DATA_DIR=/data/iac
# The user of the core; another process is started with another one: see compose.yaml.
USER 10001:10000
EXPOSE 8000 8082
CMD ["node", "--min-semi-space-size=4", "--max-semi-space-size=4", "routes/main.ts"]
