#!/bin/sh
# Creates random secrets for deploy/compose.yaml in deploy/secrets (or the given folder). Existing ones are kept.
set -eu
dir=${1:-$(dirname "$0")/../secrets}
stores='auth tasks backup'
(umask 077 && mkdir -p "$dir")
umask 022

# Containers read these files as other users, so only the mode of the folder, which they do not see, keeps other people out.
# Each file is renamed into place, so that it appears complete, with its mode.
keep() { [ -s "$dir/$1" ] || { printf '%s' "$2" >"$dir/$1.new" && mv "$dir/$1.new" "$dir/$1"; }; }
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
read_secret() { cat "$dir/$1"; }

for name in postgres_password redis_password backup_token; do
  keep "$name" "$(random)"
done
for name in $stores; do
  keep "${name}_password" "$(random)"
  keep "${name}_postgres_url" "postgres://$name:$(read_secret "${name}_password")@postgres:5432/taskmesh_$name"
done
for name in auth tasks; do
  keep "${name}_admin_url" "postgres://postgres:$(read_secret postgres_password)@postgres:5432/taskmesh_$name"
done
keep redis_url "redis://:$(read_secret redis_password)@redis:6379"
echo "The secrets are in $dir."
