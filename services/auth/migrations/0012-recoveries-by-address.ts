import { Migration } from '@mikro-orm/migrations';

export class RecoveriesByAddress extends Migration {
  override up(): void {
    // Deleting an account looks up its recovery requests, perhaps among many others that wait for the mail server.
    this.addSql('create index recovery_requests_email_key on recovery_requests (email_key)');
  }
}
