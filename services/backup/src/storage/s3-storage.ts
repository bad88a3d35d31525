import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
  type HeadObjectCommandOutput,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { AppError, unavailable } from '@taskmesh/contracts';
import { createHash } from 'node:crypto';
import { addAbortSignal, finished, PassThrough, Readable } from 'node:stream';
import { MIB } from '../archives/limits.ts';
import { sha256Of } from '../archives/uploads.ts';
import {
  ArchiveExistsError,
  isListableName,
  failureTranslator,
  type BackupStorage,
  type Located,
  type StoredArchive,
  type WrittenArchive,
} from './backup-storage.ts';
import { escapesDir } from './open-inside.ts';
import type { S3Location } from './s3-location.ts';

/** For uploads of several parts. S3 allows 10,000 parts, which makes 160 GiB. */
const PART_BYTES = 16 * MIB;
const MAX_CONCURRENT_PARTS = 2;
/** No upload takes that long, and abandoned parts cost money. */
const ABANDONED_MS = 24 * 60 * 60 * 1000;
const CONNECT_TIMEOUT_MS = 5_000;
/** How long a connection may be idle. */
const SOCKET_TIMEOUT_MS = 60_000;
const MAX_ATTEMPTS = 3;
const UNDATED = new Date(0);
/** For all attempts of a quick operation: a HEAD request, a page of a list, a deletion. */
const QUICK_TIMEOUT_MS = 10_000;

interface S3StorageOptions {
  location: S3Location;
  now: () => number;
  /** @default QUICK_TIMEOUT_MS */
  quickMs?: number;
}

/**
 * Stores archives as objects in a bucket. Objects appear only once complete, so no unfinished archive is ever listed.
 * Every failure of the bucket is an AppError SERVICE_UNAVAILABLE.
 */
export function createS3Storage({ location, now, quickMs = QUICK_TIMEOUT_MS }: S3StorageOptions): BackupStorage {
  const timeLimit = () => ({ abortSignal: AbortSignal.timeout(quickMs) });
  const { bucket: Bucket, prefix } = location;
  const client = createClient(location);
  const keyOf = (file: string) => prefix + file;

  const head = async (file: string): Promise<HeadObjectCommandOutput | undefined> => {
    try {
      const found = await client.send(new HeadObjectCommand({ Bucket, Key: keyOf(file) }), timeLimit());
      return found.LastModified ? found : refuseResponse();
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw asBucketFailure(error);
    }
  };

  const find = async (file: string): Promise<StoredArchive | undefined> => {
    const found = isListableName(file) ? await head(file) : undefined;
    return found && { file, sizeBytes: found.ContentLength ?? 0, modifiedAt: found.LastModified ?? UNDATED };
  };

  /**
   * Reads the object that was opened; fails if another one has replaced it. Not an async generator, which could not be
   * cancelled while it waits for the bucket.
   */
  const read = (file: string, { ETag, ContentLength }: HeadObjectCommandOutput, signal?: AbortSignal): Readable => {
    const closed = new AbortController();
    const content = new PassThrough().once('close', () => closed.abort());
    content.on('error', () => undefined); // the reader, which may start later, gets the error as well
    const fail = (error: unknown) => void content.destroy(asBucketFailure(error));
    const abortSignal = AbortSignal.any([closed.signal, ...(signal ? [signal] : [])]);
    const send = async () => {
      const found = await client.send(new GetObjectCommand({ Bucket, Key: keyOf(file), IfMatch: ETag }), {
        abortSignal,
      });
      const body = addAbortSignal(abortSignal, found.Body as Readable); // in Node
      finished(body, (error) => error && fail(error));
      // Otherwise a truncated archive would count as unusable, and retention would delete it in the end.
      if (found.ContentLength !== undefined && ContentLength !== undefined && found.ContentLength !== ContentLength)
        throw unavailable('The archive bucket sent only a part of the archive.');
      body.pipe(content);
    };
    send().catch(fail);
    return content;
  };

  /** After a lost response: whether the stored object is the one that was sent. */
  const isStored = async (file: string, { sizeBytes, sha256 }: WrittenArchive): Promise<boolean> => {
    const found = await head(file);
    return found?.ContentLength === sizeBytes && (await sha256Of(read(file, found))) === sha256;
  };

  async function* listPendingUploads() {
    let page: ListMultipartUploadsCommandOutput | undefined;
    do {
      const { NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page ?? {};
      const from = { Bucket, Prefix: prefix, Delimiter: '/', KeyMarker, UploadIdMarker };
      page = await client.send(new ListMultipartUploadsCommand(from), timeLimit());
      yield* page.Uploads ?? [];
      // Some servers ignore the markers and would return the same page forever.
      if (page.NextKeyMarker === KeyMarker && page.NextUploadIdMarker === UploadIdMarker) return;
    } while (page.IsTruncated === true);
  }

  return {
    prepare: async () => false, // buckets are created by the operator

    list: () =>
      translated(async () => {
        const archives: StoredArchive[] = [];
        let ContinuationToken: string | undefined;
        do {
          const where = { Bucket, Prefix: prefix, Delimiter: '/', ContinuationToken };
          const page = await client.send(new ListObjectsV2Command(where), timeLimit());
          if (page.IsTruncated === undefined && page.Name === undefined) refuseResponse();
          // Otherwise the list would be incomplete, or would never end.
          const { NextContinuationToken: next } = page;
          if (next ? next === ContinuationToken : page.IsTruncated) refuseResponse();
          for (const { Key = '', Size = 0, LastModified = UNDATED } of page.Contents ?? []) {
            const file = Key.slice(prefix.length);
            if (isListableName(file)) archives.push({ file, sizeBytes: Size, modifiedAt: LastModified });
          }
          ContinuationToken = next;
        } while (ContinuationToken);
        return archives;
      }),

    find,

    async open(name): Promise<Located> {
      if (name.includes('\0')) return { kind: 'missing' };
      if (escapesDir('/archives', name)) return { kind: 'outside' };
      const found = isListableName(name) ? await head(name) : undefined;
      if (!found) return { kind: 'missing' };
      return {
        kind: 'found',
        sizeBytes: found.ContentLength ?? 0,
        read: (signal) => read(name, found, signal),
        close: async () => undefined,
      };
    },

    async write(file, content) {
      const hash = createHash('sha256');
      let sizeBytes = 0;
      const written = () => ({ sizeBytes, sha256: hash.copy().digest('hex') });
      let failure: unknown;
      let isComplete = false;
      async function* countBytes(): AsyncGenerator<Buffer> {
        try {
          for await (const part of content) {
            hash.update(part);
            sizeBytes += part.length;
            yield part;
          }
          // Not every server supports If-None-Match, so check the name again before the object is published.
          if (await find(file)) throw new ArchiveExistsError(written());
          isComplete = true;
        } catch (error) {
          failure = error; // the upload may report only its own abort
          throw error;
        }
      }
      const upload = new Upload({
        client,
        params: {
          Bucket,
          Key: keyOf(file),
          Body: Readable.from(countBytes(), { objectMode: false }),
          IfNoneMatch: '*',
        },
        partSize: PART_BYTES,
        queueSize: MAX_CONCURRENT_PARTS,
        leavePartsOnError: false,
      });
      try {
        await upload.done();
        return written();
      } catch (error) {
        if (failure !== undefined) throw failure;
        if (isComplete && (await isStored(file, written()).catch(() => false))) return written();
        if (isNameTaken(error)) throw new ArchiveExistsError(written());
        throw asBucketFailure(error);
      } finally {
        content.destroy();
      }
    },

    remove: (file) =>
      translated(async () => {
        if (!(await find(file))) return false;
        await client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(file) }), timeLimit());
        return true;
      }),

    /** Aborts abandoned multipart uploads below our prefix, which contains only our objects. */
    sweep: () =>
      translated(async () => {
        let swept = 0;
        for await (const { Key = '', UploadId, Initiated } of listPendingUploads()) {
          // Some servers do not report when an upload began: it may still be in progress.
          const isAbandoned = Initiated !== undefined && Initiated.getTime() < now() - ABANDONED_MS;
          if (!isAbandoned || !isListableName(Key.slice(prefix.length))) continue;
          const isMissing = await client
            .send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), timeLimit())
            .then(() => false, ignoreMissing);
          if (!isMissing) swept++;
        }
        return swept;
      }),

    close: async () => client.destroy(),
  };
}

const translated = failureTranslator(asBucketFailure);

function createClient({ region, endpoint, pathStyle, credentials }: S3Location): S3Client {
  return new S3Client({
    forcePathStyle: pathStyle,
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: SOCKET_TIMEOUT_MS },
    ...(region !== undefined && { region }),
    ...(credentials && { credentials }),
    // Only Amazon supports trailing checksums; other servers reject such requests.
    ...(endpoint !== undefined && {
      endpoint,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
  });
}

/** Another instance may have aborted the upload already. */
function ignoreMissing(error: unknown): true {
  if (error instanceof Error && error.name === 'NoSuchUpload') return true;
  throw error;
}

const NO_CREDENTIALS = 'CredentialsProviderError';
const REFUSED_STATUS = new Set([401, 403]);
const NO_BUCKET = new Set(['NoSuchBucket', 'PermanentRedirect']);
const NOT_FOUND = new Set(['NotFound', 'NoSuchKey']);
const NAME_TAKEN_CODES = new Set(['PreconditionFailed', 'ConditionalRequestConflict']);

const nameOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'name' in error ? String(error.name) : '';

/** The object does not exist. In requests for one object, a missing bucket looks the same. */
const isNotFound = (error: unknown): boolean => NOT_FOUND.has(nameOf(error));

/** The name is taken, or another client is writing that object right now. */
const isNameTaken = (error: unknown): boolean => NAME_TAKEN_CODES.has(nameOf(error));

/** Returns the error for operators; `cause` has the details for the log. */
function asBucketFailure(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const name = nameOf(error);
  if (name === NO_CREDENTIALS || isRefused(error)) return unavailable('The archive bucket refused access.', error);
  if (NO_BUCKET.has(name)) return unavailable('The archive bucket does not exist.', error);
  return unavailable('The archive bucket was not available.', error);
}

/** Any page of a proxy would parse as an empty bucket. */
function refuseResponse(): never {
  throw unavailable('The server at the address of the bucket is not an S3 server.');
}

/** Checks the status, because servers use different error names. */
function isRefused(error: unknown): boolean {
  return error instanceof S3ServiceException && REFUSED_STATUS.has(error.$metadata.httpStatusCode ?? 0);
}
