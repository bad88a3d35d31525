import { AppError, isErrorCode, unavailable, type Issue } from '@taskmesh/contracts';
import type { IdentitySigner } from '@taskmesh/identity';
import { isObject } from '@taskmesh/service';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import {
  SILENCE_MS,
  WORK_PATH,
  type BackupEntry,
  type BackupScan,
  type BackupWork,
  type OnWorkProgress,
  type RestoreEnd,
  type RestoreForecast,
  type WorkLine,
  type WorkName,
  type WorkProgress,
} from './backup-work.ts';
import { queryOfRestore, queryOfUndo } from './parameters.ts';
import { readLines } from './streams.ts';
import type { StreamPool } from '../pools.ts';

/** Storing an archive may take a while after its last byte: a bucket assembles the parts. */
const STORE_TIMEOUT_MS = 10 * 60_000;
const SERVICE = 'backup';

/**
 * Calls the work over HTTP as an operator. The caller closes the pool. When the service is unavailable or the
 * connection breaks, calls fail with SERVICE_UNAVAILABLE, and the outcome of the work is unknown.
 */
export function createBackupWorkClient({ pool, signer }: { pool: StreamPool; signer: IdentitySigner }): BackupWork {
  const send = async (
    options: Pick<Dispatcher.RequestOptions, 'method' | 'path' | 'body' | 'headersTimeout' | 'signal'>,
  ) => {
    const token = await signer.tokenFor({ role: 'operator' }, SERVICE);
    const headers = { authorization: `Bearer ${token}` };
    const sending = pool.request({ headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS, ...options, headers });
    return sending.catch((cause: unknown) => Promise.reject(toUnavailable(cause)));
  };

  const run = async <Result>(name: WorkName, file = '', onProgress?: OnWorkProgress, more = ''): Promise<Result> => {
    const { body } = await send({ method: 'POST', path: pathOf(name, file) + more });
    const end = await lastOf(body, onProgress);
    if ('error' in end) throw errorOf(end.error);
    return end.result as Result; // our own service's form
  };

  return {
    create: (onProgress) => run<BackupEntry>('create', '', onProgress),
    verify: (file, onProgress) => run<BackupEntry>('verify', file, onProgress),
    scan: (onProgress) => run<BackupScan>('scan', '', onProgress),
    restore: (file, onProgress, parameters) => run<RestoreEnd>('restore', file, onProgress, queryOfRestore(parameters)),
    dryRun: (file, onProgress, parameters) =>
      run<RestoreForecast>('dryRun', file, onProgress, queryOfRestore(parameters)),
    undo: (onProgress, restoredAt) => run<RestoreEnd>('undo', '', onProgress, queryOfUndo(restoredAt)),

    async download(file) {
      const { statusCode, headers, body } = await send({ method: 'GET', path: pathOf('archive', file) });
      if (statusCode !== 200) {
        const refusal = await refusalOf(body);
        if (refusal.code === 'NOT_FOUND') return undefined;
        throw refusal;
      }
      const { etag } = headers;
      const sha256 = typeof etag === 'string' ? etag.slice(1, -1) : null;
      return { sizeBytes: Number(headers['content-length']), sha256, content: body };
    },

    async upload(file, content) {
      const end = endOf(content);
      try {
        const { statusCode, body } = await send({
          method: 'PUT',
          path: pathOf('archive', file),
          body: content,
          headersTimeout: 0, // the sender of `content` limits how long it may take
          signal: end.late,
        });
        if (statusCode !== 200) throw await refusalOf(body);
        return (await body.json()) as BackupEntry; // our own service's form
      } finally {
        end.forget();
        content.destroy();
      }
    },
  };
}

/** `late` is aborted STORE_TIMEOUT_MS after the last byte; call `forget` when the response has arrived. */
function endOf(content: Readable): { late: AbortSignal; forget(): void } {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const begin = () => (timer = setTimeout(() => controller.abort(), STORE_TIMEOUT_MS));
  content.once('end', begin);
  return {
    late: controller.signal,
    forget() {
      content.off('end', begin);
      clearTimeout(timer);
    },
  };
}

const pathOf = (name: string, file: string) => `${WORK_PATH}/${name}?file=${encodeURIComponent(file)}`;

type End = Extract<WorkLine, { result: unknown } | { error: object }>;

async function lastOf(body: Readable, onProgress: OnWorkProgress | undefined): Promise<End> {
  try {
    for await (const text of readLines(body)) {
      const line = JSON.parse(text) as WorkLine; // our own service's form
      if (!('progress' in line)) return line;
      onProgress?.(line.progress as WorkProgress);
    }
  } catch (cause) {
    throw toUnavailable(cause);
  }
  throw unavailable(undefined, new Error('The service was lost before the end.'));
}

const refusalOf = (body: Dispatcher.ResponseData['body']): Promise<AppError> =>
  body.json().then((parsed) => errorOf(isObject(parsed) ? parsed.error : undefined), toUnavailable);

/** A service of another version may not know the work, and then responds in another form. */
function errorOf(error: unknown): AppError {
  const { code, message, issues } = isObject(error) ? error : {};
  if (!isErrorCode(code)) return unavailable(undefined, new Error('The service does not respond as expected.'));
  return new AppError(code, String(message), {
    ...(Array.isArray(issues) && { issues: issues as Issue[] }), // our own service's form
    ...(code === 'SERVICE_UNAVAILABLE' && { retryAfterSeconds: 1 }),
  });
}

function toUnavailable(cause: unknown): AppError {
  return cause instanceof AppError ? cause : unavailable(undefined, cause);
}
