import { Migration } from '@mikro-orm/migrations';

export class RecoveriesByAddress extends Migration {
  override up(): void {
    // The deletion of an account looks for them, while those of all other people may be waiting for the mail server.
    this.addSql('create index recovery_requests_email_key on recovery_requests (email_key)');
  }
}
