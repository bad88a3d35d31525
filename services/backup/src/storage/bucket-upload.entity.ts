import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

export const BucketUploadEntity = defineEntity({
  name: 'BucketUpload',
  tableName: 'bucket_uploads',
  properties: {
    uploadId: p.text().primary(),
    bucket: p.text(),
    key: p.text(),
    begunAt: p.datetime(3),
  },
});

export type BucketUpload = InferEntity<typeof BucketUploadEntity>;
