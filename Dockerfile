# One image for core, worker and sidecars; the command decides which it is. Another engine, such as
# OpenTofu, comes from the image and path given with
#   --build-arg ENGINE_IMAGE=<image> --build-arg ENGINE_PATH=/usr/local/bin/tofu
ARG ENGINE_IMAGE=hashicorp/terraform:1.11
ARG ENGINE_PATH=/bin/terraform

FROM ${ENGINE_IMAGE} AS engine

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24-bookworm-slim
ARG ENGINE_PATH
ARG APP_VERSION=0.0.0-dev
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates git \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=node --group=node /workspaces /data
COPY --from=engine ${ENGINE_PATH} /usr/local/bin/
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json ./
COPY config config
COPY src src
COPY routes routes
COPY pipeline pipeline
COPY sidecars sidecars
COPY config/platform.yaml /etc/platform/config.yaml
ENV NODE_ENV=production APP_VERSION=${APP_VERSION} IAC_DATA_DIR=/data/iac
USER node
# Shared by worker and iac sidecar at the same path.
VOLUME ["/workspaces", "/data"]
EXPOSE 8000 8082
CMD ["node", "--min-semi-space-size=4", "--max-semi-space-size=4", "routes/main.ts"]
