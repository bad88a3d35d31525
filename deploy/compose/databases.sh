#!/bin/sh
# The postgres image runs this once, on an empty volume: creates a role and a database for each service whose password is mounted.
set -eu
for file in /run/secrets/*_password; do
  name=$(basename "$file" _password)
  [ "$name" = postgres ] && continue
  psql -v ON_ERROR_STOP=1 -U postgres -v name="$name" -v database="taskmesh_$name" \
    -v password="$(cat "$file")" <<'SQL'
create role :"name" login password :'password';
create database :"database" owner :"name" encoding 'UTF8' template template0;
revoke all on database :"database" from public;
SQL
done
