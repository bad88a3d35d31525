#!/bin/sh
# Lists what is in the image (CycloneDX), then takes out what nothing loads. Arguments: the workspaces that run.
set -eu
npm exec --yes @cyclonedx/cyclonedx-npm@6.0.1 -- --omit dev --ignore-npm-errors --output-reproducible \
  $(for part in "$@"; do echo "-w $part"; done) --of JSON -o sbom.cdx.json
node deploy/image/prune.ts "$@"
rm -f deploy/image/prune.ts deploy/image/finish.sh package-lock.json .npmrc .dockerignore
