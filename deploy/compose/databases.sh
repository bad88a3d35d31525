#!/bin/sh
# The postgres image runs this once, on an empty volume: creates a role and a database for each service whose password is mounted.
set -eu
for file in /run/secrets/*_password; do
  name=$(basename "$file" _password)
  [ "$name" = postgres ] && continue
  # From the environment, because the list of processes shows arguments.
  PASSWORD=$(cat "$file")
  export PASSWORD
  psql -v ON_ERROR_STOP=1 -U postgres -v name="$name" -v database="taskmesh_$name" <<'SQL'
\getenv password PASSWORD
create role :"name" login password :'password';
create database :"database" owner :"name" encoding 'UTF8' template template0;
revoke all on database :"database" from public;
SQL
done
