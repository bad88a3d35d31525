import { Migration } from '@mikro-orm/migrations';

export class Changes extends Migration {
  override up(): void {
    // The outbox of mails about an account. Like the outbox of recovery mails, it holds no token.
    this.addSql(`
      create table account_mails (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        kind text not null,
        recipient text not null,
        ip text,
        request_id text not null,
        created_at timestamptz(3) not null,
        attempts integer not null default 0,
        next_attempt_at timestamptz(3) not null
      )`);
    this.addSql('create index account_mails_account_id on account_mails (account_id)');
    this.addSql('create index account_mails_due on account_mails (next_attempt_at)');
    this.addSql(`
      create table email_tokens (
        hash text primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        email text not null,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3) not null
      )`);
    this.addSql('create index email_tokens_account_id on email_tokens (account_id)');
    this.addSql('create index email_tokens_expires_at on email_tokens (expires_at)');
  }
}
