import { Migration } from '@mikro-orm/migrations';

export class BucketUploads extends Migration {
  override up(): void {
    this.addSql('drop table bucket_uploads'); // the bucket itself lists them
  }
}
