#!/bin/sh
# Lists the contents of the image (CycloneDX), removes files that nothing loads, and strips types.
set -eu
parts=$(dirname services/*/package.json deploy/*/package.json)
npm exec --yes @cyclonedx/cyclonedx-npm@6.0.1 -- --omit dev --ignore-npm-errors --output-reproducible \
  $(echo "$parts services/gateway/console" | tr ' ' '\n' | sed 's/^/-w /') --of JSON -o sbom.cdx.json
node deploy/image/prune.ts $parts
# The image needs neither the sources of the console, whose build is in .cache, nor the build scripts.
rm -rf services/gateway/console
rm -f deploy/image/prune.ts deploy/image/finish.sh package-lock.json .npmrc .dockerignore
node deploy/image/strip-types.ts
rm deploy/image/strip-types.js
