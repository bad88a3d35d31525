import type { Log } from '@taskmesh/service';
import { whileAway, type Database } from '@taskmesh/database';
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
    begin: (upload) =>
      tryToNote(whileAway({ kind: 'read' }, () => database.em().upsert(BucketUploadEntity, { ...upload }))),
    end: (uploadId) =>
      tryToNote(whileAway({ kind: 'read' }, () => database.em().nativeDelete(BucketUploadEntity, { uploadId }))),
    begunBefore: (moment) =>
      whileAway({ kind: 'read' }, () => database.em().find(BucketUploadEntity, { begunAt: { $lt: moment } })),
  };
}
