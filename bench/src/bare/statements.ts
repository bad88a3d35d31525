/** The tables that the measured statements use, with the same indexes as in the services' databases. */
export const SCHEMA = `
  create table accounts (
    id uuid primary key, email text not null, email_key text not null unique, name text not null,
    password_hash text not null, password_version integer not null default 1, email_confirmed_at timestamptz(3) not null
  );
  create table sessions (
    id uuid primary key, account_id uuid not null references accounts (id) on delete cascade,
    created_at timestamptz(3) not null, tokens_until timestamptz(3) not null,
    expires_at timestamptz(3) not null, ended_at timestamptz(3)
  );
  create index sessions_account_id on sessions (account_id);
  create index sessions_expires_at on sessions (expires_at);
  create table audit_log (
    id bigint generated always as identity primary key, at timestamptz(3) not null, kind text not null,
    account_id uuid, session_id uuid, ip text, request_id text not null
  );
  create index audit_log_account on audit_log (account_id, id);

  create table tasks (
    id uuid primary key, user_id uuid not null, title text not null, description text, completed boolean not null,
    due_date timestamptz(3), category text, priority text not null check (priority in ('low', 'medium', 'high')),
    created_at timestamptz(3) not null, updated_at timestamptz(3) not null, version integer not null default 1
  ) with (fillfactor = 80);
  create index tasks_by_owner on tasks (user_id, created_at, id);
  create table feeds (owner_id uuid primary key, sequence bigint not null) with (fillfactor = 50);
  create table changes (
    id bigserial primary key, part smallint not null, owner_id uuid not null, sequence bigint not null, kind text not null,
    task json not null, previous json, occurred_at timestamptz(3) not null, traceparent text, published_at timestamptz,
    unique (owner_id, sequence)
  );
  create index changes_to_publish on changes (part, id) where published_at is null;
`;

const TASK_COLUMNS = 'id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at';

/**
 * One statement per request, prepared once per connection. They do the same work as the services' statements: a write
 * changes the task, the owner's feed row and the log with both images; a login opens a session and adds an audit entry.
 */
export const STATEMENTS = {
  /** $1 id, $2 e-mail, $3 name, $4 password hash, $5 now */
  signUp: `
    insert into accounts (id, email, email_key, name, password_hash, email_confirmed_at)
    values ($1, $2, lower($2), $3, $4, $5)
    returning id, email, email_confirmed_at`,
  /** $1 e-mail */
  findAccount:
    'select id, email, password_hash, password_version, email_confirmed_at from accounts where email_key = lower($1)',
  /** $1 session, $2 account, $3 now, $4 expiry, $5 IP, $6 request id, $7 version of the password */
  openSession: `
    with account as (
      select id from accounts where id = $2::uuid and password_version = $7::integer for share
    ), session as (
      insert into sessions (id, account_id, created_at, tokens_until, expires_at)
      select $1::uuid, id, $3::timestamptz, $4::timestamptz, $4::timestamptz from account
      returning id, account_id, created_at
    ), audit as (
      insert into audit_log (at, kind, account_id, session_id, ip, request_id)
      select created_at, 'session.opened', account_id, id, $5::text, $6::text from session
    )
    select id from session`,
  /** $1 part, $2 id, $3 owner, $4 now, $5 title, $6 description, $7 completed, $8 due date, $9 category, $10 priority */
  create: `
    with feed as (
      insert into feeds as f (owner_id, sequence) values ($3::uuid, 1)
      on conflict (owner_id) do update set sequence = f.sequence + 1
      returning sequence
    ), task as (
      insert into tasks (${TASK_COLUMNS}, version)
      select $2::uuid, $3::uuid, $5::text, $6::text, $7::boolean, $8::timestamptz, $9::text, $10::text,
             $4::timestamptz, $4::timestamptz, 1
      from feed
      returning *
    ), change as (
      insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
      select $1, task.user_id, feed.sequence, 'INSERT', row_to_json(task), null, task.created_at from feed, task
    )
    select ${TASK_COLUMNS} from task`,
  /** $1 part, $2 id, $3 owner, $4 now, $5 title or null, $6 completed or null */
  update: `
    with old as (
      select * from tasks where id = $2 and user_id = $3 for update
    ), feed as (
      insert into feeds as f (owner_id, sequence) select user_id, 1 from old
      on conflict (owner_id) do update set sequence = f.sequence + 1
      returning sequence
    ), task as (
      update tasks t set
        title = coalesce($5, t.title),
        completed = coalesce($6, t.completed),
        updated_at = greatest($4::timestamptz, old.updated_at + interval '1 millisecond'),
        version = old.version + 1
      from old, feed
      where t.id = old.id
      returning t.*
    ), change as (
      insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
      select $1, task.user_id, feed.sequence, 'UPDATE', row_to_json(task), row_to_json(old), task.updated_at
      from old, feed, task
    )
    select ${TASK_COLUMNS} from task`,
  /** $1 id, $2 owner */
  get: `select ${TASK_COLUMNS} from tasks where id = $1 and user_id = $2`,
  /** $1 owner */
  list: `select ${TASK_COLUMNS} from tasks where user_id = $1 order by created_at desc, id desc limit 1000`,
  /** $1 owner */
  statistics: `
    select count(*)::int as total, (count(*) filter (where completed))::int as completed
    from tasks where user_id = $1`,
};
