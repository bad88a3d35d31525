import { Migration } from '@mikro-orm/migrations';

export class OpenIdConnect extends Migration {
  override up(): void {
    // An account without a password has a hash that no password matches, so that logins treat all accounts alike.
    this.addSql('alter table accounts add column has_password boolean not null default true');
    this.addSql(`
      create table linked_identities (
        id uuid primary key,
        account_id uuid not null references accounts (id) on delete cascade,
        issuer text not null,
        subject text not null,
        email text not null,
        created_at timestamptz(3) not null,
        last_used_at timestamptz(3) not null,
        constraint linked_identities_issuer_subject_key unique (issuer, subject)
      )`);
    this.addSql('create index linked_identities_account_id on linked_identities (account_id)');
    this.addSql(`
      create table pending_sign_ins (
        hash text primary key,
        challenge text not null,
        return_to text not null,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3) not null
      )`);
    this.addSql('create index pending_sign_ins_expires_at on pending_sign_ins (expires_at)');
    this.addSql(`
      create table sign_in_codes (
        hash text primary key,
        challenge text not null,
        issuer text not null,
        subject text not null,
        email text,
        email_verified boolean not null,
        name text,
        created_at timestamptz(3) not null,
        expires_at timestamptz(3) not null
      )`);
    this.addSql('create index sign_in_codes_expires_at on sign_in_codes (expires_at)');
  }
}
