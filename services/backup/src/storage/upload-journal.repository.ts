import type { Log } from '@taskmesh/service';
import type { Database } from '@taskmesh/store';
import { BucketUploadEntity, type BucketUpload } from './bucket-upload.entity.ts';

/** Which multipart uploads are ours: the bucket may have those of other applications. */
export interface UploadJournal {
  /** Never throws: an unrecorded upload is merely not cleaned up after a crash. */
  begin(upload: BucketUpload): Promise<void>;
  end(uploadId: string): Promise<void>;
  begunBefore(moment: Date): Promise<BucketUpload[]>;
}

export function createUploadJournal(database: Database, log: Log): UploadJournal {
  const tryToNote = (step: Promise<unknown>): Promise<void> =>
    step.then(
      () => undefined,
      (error: unknown) => log.warn({ err: error }, 'upload not noted'),
    );
  return {
    begin: (upload) => tryToNote(database.retry((em) => em.upsert(BucketUploadEntity, { ...upload }))),
    end: (uploadId) => tryToNote(database.retry((em) => em.nativeDelete(BucketUploadEntity, { uploadId }))),
    begunBefore: (moment) => database.retry((em) => em.find(BucketUploadEntity, { begunAt: { $lt: moment } })),
  };
}
