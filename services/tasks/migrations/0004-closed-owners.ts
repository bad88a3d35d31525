import { Migration } from '@mikro-orm/migrations';

/** Deletes the tasks of deleted accounts. */
export class ClosedOwners extends Migration {
  override up(): void {
    // Where a closed owner's feed ends. The check rejects every write that would increase the sequence, except for the
    // statement that deletes the tasks, which also moves the end.
    this.addSql('alter table feeds add column ends_at bigint, add constraint feeds_ended check (ends_at = sequence)');

    // The position in auth's account log. No log has epoch 0, so reading starts from the beginning.
    this.addSql(`
      create table account_position (
        singleton boolean primary key default true check (singleton),
        epoch integer not null,
        sequence bigint not null
      )`);
    this.addSql('insert into account_position (epoch, sequence) values (0, 0)');

    // Closed owners with rows that remain to be deleted.
    this.addSql(`
      create table closed_owners (
        owner_id uuid primary key,
        deleted_at timestamptz(3) not null
      )`);
  }
}
