import {
  readLines,
  type BackupEntry,
  type BackupScan,
  type RestoreForecast,
  type UndoableRestore,
  type WorkProgress,
} from '@taskmesh/internal-api';
import { parseJson } from '@taskmesh/service';
import { PassThrough, type Readable } from 'node:stream';
import { request, type Dispatcher } from 'undici';

/** Taskmesh refused the request; its message is for the operator. */
export class Refused extends Error {
  /** The HTTP status; absent when the command itself refuses. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}
/** Taskmesh did not respond, or the connection broke. */
export class Unreachable extends Error {
  /** Marks this as a system error: an archive that was being read is not to blame. */
  readonly code = 'UNREACHABLE';
}

export interface CommandResult {
  status: number;
  success: boolean;
  message: string;
  error?: string;
  data?: BackupEntry & BackupScan & RestoreForecast;
  databaseRestored?: boolean;
  /** The backup made before a restore, even a failed one. */
  safetyBackup?: string;
  dropped?: string[];
  skipped?: RestoreForecast['skipped'];
  /** An undo is possible until then. */
  keptUntil?: string | null;
}

export type BackupClient = ReturnType<typeof createClient>;

/** The server sends something every few seconds while it works. */
const IDLE_TIMEOUT_MS = 60_000;
/** The response to an upload arrives only once it is stored. */
const STORE_TIMEOUT_MS = 15 * 60_000;

export interface ClientOptions {
  url: URL;
  token: string | undefined;
  signal?: AbortSignal | undefined;
}

export function createClient({ url, token, signal: interrupted }: ClientOptions) {
  const base = url.href.replace(/\/+$/, '');

  const send = async (method: Dispatcher.HttpMethod, path: string, { headers = {}, ...more }: SendOptions = {}) => {
    const { signal = interrupted } = more;
    try {
      return await request(`${base}/api${path}`, {
        method,
        headersTimeout: IDLE_TIMEOUT_MS,
        bodyTimeout: IDLE_TIMEOUT_MS,
        ...more,
        ...(signal && { signal }),
        headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
      });
    } catch (cause) {
      throw connectionFailure(cause, signal);
    }
  };

  const connectionFailure = (cause: unknown, signal = interrupted): unknown =>
    signal?.aborted ? signal.reason : unreachable(base, cause);

  const json = async (response: Dispatcher.ResponseData): Promise<unknown> => {
    const text = await response.body.text().catch((cause: unknown) => Promise.reject(connectionFailure(cause)));
    const body = parseJson(text);
    if (response.statusCode >= 400 || body === undefined) throw refusal(response.statusCode, body);
    return body;
  };

  return {
    list: async () => ((await json(await send('GET', '/backups'))) as { data: BackupEntry[] }).data,

    /** @throws Refused when no restore can be undone */
    undoable: async () => ((await json(await send('GET', '/backup/undo'))) as { data: UndoableRestore }).data,

    /** Not interruptible, because it may be part of the cleanup. */
    remove: async (file: string) => {
      const path = `/backups/${encodeURIComponent(file)}`;
      return (await json(await send('DELETE', path, { signal: NEVER_ABORTED }))) as CommandResult;
    },

    /** Sends a POST and follows the progress. @throws Refused, Unreachable */
    async work(path: string, onProgress: (progress: WorkProgress) => void): Promise<CommandResult> {
      const headers = { accept: 'application/x-ndjson' };
      const response = await send('POST', path, { headers, headersTimeout: STORE_TIMEOUT_MS });
      if (response.headers['content-type'] !== 'application/x-ndjson') return (await json(response)) as CommandResult;
      let result: CommandResult | undefined;
      try {
        for await (const line of readLines(response.body)) {
          const { progress, ...rest } = JSON.parse(line) as CommandResult & { progress?: WorkProgress };
          if (progress) onProgress(progress);
          else result = rest;
        }
      } catch (cause) {
        throw connectionFailure(cause);
      }
      if (!result)
        throw new Unreachable(`The connection to ${base} ended before the work did. Look at the list or the log.`);
      if (result.status >= 400) throw refusal(result.status, result);
      return result;
    },

    /** The content fails with Unreachable when the connection breaks. */
    async download(file: string): Promise<{ content: Readable; sizeBytes: number; sha256: string | undefined }> {
      const response = await send('GET', `/backups/${encodeURIComponent(file)}`);
      if (response.statusCode !== 200) await json(response);
      const { etag } = response.headers;
      const content = new PassThrough();
      response.body.once('error', (cause) => content.destroy(connectionFailure(cause) as Error)).pipe(content);
      content.once('close', () => response.body.destroy());
      return {
        content,
        sizeBytes: Number(response.headers['content-length']),
        sha256: typeof etag === 'string' ? etag.slice(1, -1) : undefined,
      };
    },

    /** To abort, destroy the content. Once everything is sent, the call always waits for the response. */
    upload: async (file: string, content: Readable, sizeBytes?: number) =>
      (await json(
        await send('PUT', `/backups/${encodeURIComponent(file)}`, {
          body: content,
          signal: NEVER_ABORTED,
          headersTimeout: 0, // sending has no time limit
          headers: {
            'content-type': 'application/octet-stream',
            ...(sizeBytes !== undefined && { 'content-length': String(sizeBytes) }),
          },
        }),
      )) as CommandResult,
  };
}

interface SendOptions {
  headers?: Record<string, string>;
  body?: Readable;
  headersTimeout?: number;
  /** @default the client's */
  signal?: AbortSignal;
}

const NEVER_ABORTED = new AbortController().signal;

const HINTS: Record<number, string> = {
  401: 'Set BACKUP_TOKEN to the token that Taskmesh was started with.',
};

function refusal(status: number, body: unknown): Refused {
  const { message, error, safetyBackup } = (body ?? {}) as {
    message?: unknown;
    error?: unknown;
    safetyBackup?: string;
  };
  const reason = typeof error === 'string' ? error : message;
  if (typeof reason !== 'string')
    return new Refused(`The response (status ${status}) is not from Taskmesh. Is the address right?`, status);
  const safetyText = safetyBackup && `Safety backup: ${safetyBackup}.`;
  return new Refused([reason, HINTS[status], safetyText].filter(Boolean).join(' '), status);
}

function unreachable(base: string, cause: unknown): Unreachable {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new Unreachable(
      `Nothing responds at ${base}. Is Taskmesh running? (TASKMESH_URL or --url name another address.)`,
    );
  return new Unreachable(`The connection to ${base} broke: ${cause instanceof Error ? cause.message : String(cause)}`);
}
