import { defineEntity, p } from '@mikro-orm/core';

/** Used up to 0.1.0, which an upgrade can go back to: the table goes with a later release. */
export const BucketUploadEntity = defineEntity({
  name: 'BucketUpload',
  tableName: 'bucket_uploads',
  properties: { uploadId: p.text().primary(), bucket: p.text(), key: p.text(), begunAt: p.datetime(3) },
});
