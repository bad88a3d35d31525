import { Migration } from '@mikro-orm/migrations';

/** The schema of 0.1.0. */
export class Catalogue extends Migration {
  override up(): void {
    this.addSql(`
      create table backups (
        file text primary key,
        size_bytes double precision not null,
        sha256 text,
        created_at timestamptz(3) not null,
        stores text[] not null,
        verified_at timestamptz(3),
        origin text not null default 'request',
        modified_at timestamptz(3),
        verified_version text,
        unfit_at timestamptz(3),
        unfit_reason text
      )`);
    this.addSql(`
      create table restores (
        id text primary key,
        file text not null,
        stage text not null check (stage in ('loading', 'swapping', 'swapping-apart', 'decided', 'restored', 'undone')),
        stores text[] not null,
        started_at timestamptz(3) not null,
        ended_at timestamptz(3),
        fresh_ids jsonb not null default '{}',
        undoes text,
        left_until timestamptz(3),
        safety_backup text
      )`);
    this.addSql(`create index on restores (started_at) where ended_at is null`);
    this.addSql(`create index on restores (left_until) where left_until is not null`);
    this.addSql(`
      create table verifications (
        id text primary key,
        stores text[] not null,
        started_at timestamptz(3) not null
      )`);
    this.addSql(`
      create table schedule (
        id text primary key,
        moment timestamptz(3) not null,
        begun_moment timestamptz(3),
        begun_at timestamptz(3),
        attempts int not null default 0
      )`);
    this.addSql(`
      create table failing_runs (
        run text primary key,
        since timestamptz(3) not null,
        told_at timestamptz(3)
      )`);
    // Used up to 0.1.0, to which an upgrade can be rolled back: a later release removes the table.
    this.addSql(`
      create table bucket_uploads (
        upload_id text primary key,
        bucket text not null,
        key text not null,
        begun_at timestamptz(3) not null
      )`);
  }
}

/** A migration from before 0.1.0, which no database lacks by now: the first one includes what it did. */
export class Included extends Migration {
  override up(): void {
    // nothing is left to do
  }
}
