import { Migration } from '@mikro-orm/migrations';

export class DeadLettersByOwner extends Migration {
  override up(): void {
    // The deletion of an owner looks for theirs.
    this.addSql('create index dead_letters_owner_id on dead_letters (owner_id)');
  }
}
