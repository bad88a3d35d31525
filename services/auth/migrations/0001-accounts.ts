import { Migration } from '@mikro-orm/migrations';

export class Accounts extends Migration {
  override up(): void {
    this.addSql(`
      create table accounts (
        id uuid primary key,
        email text not null,
        email_key text not null,
        name text not null,
        password_hash text not null,
        password_version integer not null default 1,
        email_confirmed_at timestamptz(3) not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        constraint accounts_email_key_unique unique (email_key)
      )`);
    this.addSql(`
      comment on column accounts.email_key is 'The address without regard to case: made by auth, because lower() knows only ASCII in some locales'`);
    this.addSql(`
      create table sessions (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        created_at timestamptz(3) not null,
        tokens_until timestamptz(3) not null,
        expires_at timestamptz(3) not null,
        ended_at timestamptz(3)
      )`);
    this.addSql('create index sessions_living on sessions (account_id) where ended_at is null');
    this.addSql('create index sessions_expires_at on sessions (expires_at)');
    this.addSql(`
      create table refresh_tokens (
        hash text primary key,
        session_id uuid not null references sessions (id) on delete cascade,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3) not null,
        used_at timestamptz(3)
      )`);
    this.addSql('create index refresh_tokens_session_id on refresh_tokens (session_id)');
    this.addSql(`
      create table ended_sessions (
        sequence bigint primary key,
        session_id uuid not null unique,
        until timestamptz(3) not null
      )`);
    this.addSql('create index ended_sessions_until on ended_sessions (until)');
    // A single row. Each transaction that ends sessions locks it, so sequences follow the order of commits and have no gaps.
    this.addSql(`
      create table ended_session_counter (
        id integer primary key check (id = 1),
        last bigint not null
      )`);
    this.addSql('insert into ended_session_counter (id, last) values (1, 0)');
  }
}
