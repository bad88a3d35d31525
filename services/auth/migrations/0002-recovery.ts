import { Migration } from '@mikro-orm/migrations';

export class Recovery extends Migration {
  override up(): void {
    // The outbox of recovery mails. It holds no token: each attempt to send creates a new one.
    this.addSql(`
      create table recovery_requests (
        id uuid primary key,
        email_key text not null,
        ip text,
        request_id text not null,
        created_at timestamptz(3) not null,
        attempts integer not null default 0,
        next_attempt_at timestamptz(3) not null
      )`);
    this.addSql('create index recovery_requests_due on recovery_requests (next_attempt_at)');
    this.addSql(`
      create table reset_tokens (
        hash text primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3) not null
      )`);
    this.addSql('create index reset_tokens_account_id on reset_tokens (account_id)');
    this.addSql('create index reset_tokens_expires_at on reset_tokens (expires_at)');
  }
}
