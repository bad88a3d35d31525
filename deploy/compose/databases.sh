#!/bin/sh
# Run once by the postgres image, on an empty volume: a role and a database for each service.
set -eu
for name in auth tasks backup; do
  psql -v ON_ERROR_STOP=1 -U postgres -v name="$name" -v database="taskmesh_$name" \
    -v password="$(cat "/run/secrets/${name}_password")" <<'SQL'
create role :"name" login password :'password';
create database :"database" owner :"name" encoding 'UTF8' template template0;
revoke all on database :"database" from public;
SQL
done
