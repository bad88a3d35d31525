import { defineEntity, p } from '@mikro-orm/core';

/** Used up to 0.1.0, to which an upgrade can be rolled back: a later release removes the table. */
export const BucketUploadEntity = defineEntity({
  name: 'BucketUpload',
  tableName: 'bucket_uploads',
  properties: { uploadId: p.text().primary(), bucket: p.text(), key: p.text(), begunAt: p.datetime(3) },
});
