import { Migration } from '@mikro-orm/migrations';

/** Adds dead letters from gateways to those from the relay. Each record is stored once. */
export class DeadLetters extends Migration {
  override up(): void {
    // A record that a gateway could not read may not identify a change; then only its text is stored.
    this.addSql(`
      alter table dead_letters
        drop constraint dead_letters_pkey,
        add column id bigserial primary key,
        add column source text not null default 'relay' check (source in ('relay', 'gateway')),
        add column record text,
        add column fingerprint text,
        alter column change_id drop not null,
        alter column owner_id drop not null,
        alter column sequence drop not null`);
    this.addSql(`update dead_letters set fingerprint = 'change ' || change_id`);
    this.addSql(`
      alter table dead_letters
        alter column source drop default,
        alter column fingerprint set not null,
        add constraint dead_letters_once unique (fingerprint)`);
  }
}
