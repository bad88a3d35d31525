import { defineEntity, p, type InferEntity } from '@mikro-orm/core';

/** A multipart upload that we started and that has not ended yet. */
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
