import { Migration } from '@mikro-orm/migrations';

export class PersonalTokens extends Migration {
  override up(): void {
    this.addSql(`
      create table personal_tokens (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        name text not null,
        scope text not null check (scope in ('read', 'write')),
        hash text not null,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3) not null,
        last_used_at timestamptz(3),
        constraint personal_tokens_hash_key unique (hash)
      )`);
    this.addSql('create index personal_tokens_account_id on personal_tokens (account_id)');
    this.addSql('create index personal_tokens_expires_at on personal_tokens (expires_at)');
  }
}
