#!/bin/sh
# Lists the contents of the image (CycloneDX), then removes files that nothing loads.
set -eu
parts=$(dirname services/*/package.json deploy/*/package.json)
npm exec --yes @cyclonedx/cyclonedx-npm@6.0.1 -- --omit dev --ignore-npm-errors --output-reproducible \
  $(echo "$parts" | sed 's/^/-w /') --of JSON -o sbom.cdx.json
node deploy/image/prune.ts $parts
rm -f deploy/image/prune.ts deploy/image/finish.sh package-lock.json .npmrc .dockerignore
