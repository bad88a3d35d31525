import { Migration } from '@mikro-orm/migrations';

/** What becomes of tasks whose owner's account was deleted. */
export class ClosedOwners extends Migration {
  override up(): void {
    // A feed that has ended: no statement can count on in it, whatever it writes, but the one that moves its end along.
    this.addSql('alter table feeds add column ends_at bigint, add constraint feeds_ended check (ends_at = sequence)');

    // How far auth's account log was read. Epoch 0 is that of no log: it is read from its beginning.
    this.addSql(`
      create table account_position (
        singleton boolean primary key default true check (singleton),
        epoch integer not null,
        sequence bigint not null
      )`);
    this.addSql('insert into account_position (epoch, sequence) values (0, 0)');

    // Closed owners of whom something is left; what is left is the progress.
    this.addSql(`
      create table closed_owners (
        owner_id uuid primary key,
        deleted_at timestamptz(3) not null
      )`);
  }
}
