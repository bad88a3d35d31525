import { Migration } from '@mikro-orm/migrations';

export class DeadLettersByOwner extends Migration {
  override up(): void {
    // Deleting an owner looks up the owner's dead letters.
    this.addSql('create index dead_letters_owner_id on dead_letters (owner_id)');
  }
}
