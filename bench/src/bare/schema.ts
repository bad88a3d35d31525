/** The tables that the measured statements touch, with the indexes that the services' own databases have. */
export const SCHEMA = `
  create table accounts (
    id uuid primary key,
    email text not null,
    email_key text not null unique,
    name text not null,
    password_hash text not null,
    password_version integer not null default 1,
    email_confirmed_at timestamptz(3) not null
  );
  create table sessions (
    id uuid primary key,
    account_id uuid not null references accounts (id) on delete cascade,
    created_at timestamptz(3) not null,
    tokens_until timestamptz(3) not null,
    expires_at timestamptz(3) not null,
    ended_at timestamptz(3)
  );
  create index sessions_account_id on sessions (account_id);
  create index sessions_expires_at on sessions (expires_at);
  create table audit_log (
    id bigint generated always as identity primary key,
    at timestamptz(3) not null,
    kind text not null,
    account_id uuid,
    session_id uuid,
    ip text,
    request_id text not null
  );
  create index audit_log_account on audit_log (account_id, id);

  create table tasks (
    id uuid primary key,
    user_id uuid not null,
    title text not null,
    description text,
    completed boolean not null,
    due_date timestamptz(3),
    category text,
    priority text not null check (priority in ('low', 'medium', 'high')),
    created_at timestamptz(3) not null,
    updated_at timestamptz(3) not null,
    version integer not null default 1
  ) with (fillfactor = 80);
  create index tasks_by_owner on tasks (user_id, created_at, id);
  create table feeds (owner_id uuid primary key, sequence bigint not null) with (fillfactor = 50);
  create table changes (
    id bigserial primary key,
    part smallint not null,
    owner_id uuid not null,
    sequence bigint not null,
    kind text not null,
    task json not null,
    previous json,
    occurred_at timestamptz(3) not null,
    traceparent text,
    published_at timestamptz,
    unique (owner_id, sequence)
  );
  create index changes_to_publish on changes (part, id) where published_at is null;
`;
