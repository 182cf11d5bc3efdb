# syntax=docker/dockerfile:1
# The server with its CPU engine, the dashboard and the starter model (5 MB). Other models are not included: they are in the volume of
# HF_HOME, or mounted. From the root of the repository:
#   docker build -t whetstone .
# docs/guides/deploying.md describes how to run it. GPU engines have another image: deploy/kuberay/Dockerfile.
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# The package has ONNX Runtime for all platforms: of 146 MB one platform needs 26 to 46.
RUN npm run build \
    && kept="linux/$(node --print process.arch)" \
    && find dist/onnxruntime/bin/napi-v6 -mindepth 2 -maxdepth 2 -not -path "*/${kept}" -exec rm -r {} + \
    && npm prune --omit=dev --ignore-scripts \
    && chmod a+x dist/cli.js \
    && chmod --recursive a+rX package.json LICENSE node_modules dist models

FROM ${NODE_IMAGE}
WORKDIR /opt/whetstone
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY --from=build /build/models/starter models/starter
# The first mount of a named volume takes its owner and mode from here.
RUN ln -s /opt/whetstone/dist/cli.js /usr/local/bin/whetstone \
    && install -d -o node -g node -m 0700 /var/lib/whetstone /var/cache/whetstone
# A numeric user, so that Kubernetes can verify that it is not root.
USER 1000:1000
# glibc keeps freed memory of large bodies without the threshold: docs/operations.md.
ENV NODE_ENV=production \
    MALLOC_MMAP_THRESHOLD_=262144 \
    WHETSTONE_DATA=/var/lib/whetstone \
    WHETSTONE_LOG_FORMAT=json \
    HF_HOME=/var/cache/whetstone
VOLUME ["/var/lib/whetstone", "/var/cache/whetstone"]
EXPOSE 8484
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=6 \
    CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.WHETSTONE_PORT || 8484}/v1/health`, { signal: AbortSignal.timeout(4000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# No shell and no init: the server handles SIGTERM and its child processes itself.
ENTRYPOINT ["node", "/opt/whetstone/dist/cli.js"]
CMD ["serve", "--host", "0.0.0.0"]
