/** One of each kind of object that a dump can hold, with names and values that want care. */
export const FULL_SCHEMA = `
  create function public.only_grows() returns trigger language plpgsql as $$
  begin
    raise exception 'it only grows; $ and '' and ";"';
  end $$;
  create function public.one() returns integer language sql immutable as 'select 1';
  create sequence free_numbers as smallint start with 7 increment by 3 maxvalue 100 cycle;
  select nextval('free_numbers'), nextval('free_numbers');
  create table people (
    id uuid primary key,
    email text not null unique,
    "Odd ""name" integer default one() check ("Odd ""name" < 10),
    born date
  ) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02);
  comment on table people is 'it''s; a -- comment';
  comment on column people.email is 'back\\slash';
  create table "select" (
    id bigserial primary key,
    owner uuid references people (id) on delete cascade,
    body json, other jsonb, bytes bytea, number numeric(12, 3), ratio double precision, truth boolean,
    at timestamptz(3), lasting interval, words text[], name varchar(20) default 'x',
    constraint "in order" unique (owner, id) deferrable
  );
  create index "some index" on "select" (at desc, lower(name)) where truth;
  comment on index "some index" is 'a comment';
  create table audit (id bigint generated always as identity primary key, what text not null);
  create trigger only_grows before update or delete or truncate on audit for each statement execute function only_grows();
  create table unchecked (n int);
  insert into unchecked values (-1);
  alter table unchecked add constraint later check (n > 0) not valid;
  insert into people values ('00000000-0000-7000-8000-000000000001', 'a@x', 3, '0044-03-15 BC'), ('00000000-0000-7000-8000-000000000002', E'\\\\.', null, null);
  insert into "select" (owner, body, other, bytes, number, ratio, truth, at, lasting, words, name)
  select '00000000-0000-7000-8000-000000000001', '{"a":  1}', '{"b": [null]}', decode('00ff5c', 'hex'), 123456789.125, 0.1::float8 + 0.2, true,
    '2026-11-21 10:00:00.123+00', '1 year 2 days 03:04:05', array['a,b', null, E'"\\\\'], text
  from unnest(array['plain', E'tab\\there', E'line\\nbreak', E'\\\\.', E'\\r', '', null, 'ünïcödé 🙂', E'\\\\N', 'COPY x;']) as text;
  insert into audit (what) select 'n ' || n from generate_series(1, 50) n;
`;

export const FULL_TABLES = ['people', '"select"', 'audit', 'unchecked'];
