import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { OperatorsToken } from './answers.generated.ts';
import { notReached, OperatorsError, readLines } from './read-lines.ts';
import type { Progress } from './types.ts';

/** The endpoints for operators. All methods throw an OperatorsError; a refused token is also passed to `onRefused`. */
export type OperatorsApi = ReturnType<typeof createOperatorsApi>;

export const ApiContext = createContext<OperatorsApi | undefined>(undefined);

export function useApi(): OperatorsApi {
  const api = useContext(ApiContext);
  if (!api) throw new Error('There is no operator around this component.');
  return api;
}

/** Longer than the server takes. Otherwise a silent server would look as well as it did at the last response. */
const READ_TIMEOUT_MS = 30_000;
const LINES = 'application/x-ndjson';

export function createOperatorsApi({ token, onRefused }: { token: string; onRefused(error: OperatorsError): void }) {
  const authorization = `Bearer ${token}`;

  const refused = (status: number, text: string): OperatorsError => {
    const error = refusalOf(status, text);
    if (status === 401 || status === 403) onRefused(error);
    return error;
  };

  const request = async (method: string, path: string, init: { accept?: string; signal?: AbortSignal } = {}) => {
    const { accept = 'application/json', ...more } = init;
    const response = await send(path, { method, headers: { authorization, accept }, ...more });
    if (response.ok) return response;
    throw refused(response.status, await response.text().catch(() => ''));
  };

  return {
    get: async <Body>(path: string): Promise<Body> =>
      json(await request('GET', path, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) })),
    send: async <Body>(method: 'POST' | 'DELETE', path: string): Promise<Body> => json(await request(method, path)),
    /** Runs a long operation, and reports its progress. */
    async work(path: string, onProgress: (progress: Progress) => void) {
      const response = await request('POST', path, { accept: LINES });
      if (!response.body) throw notReached();
      const end = await readLines(response.body, onProgress);
      if (end.status >= 400) throw new OperatorsError(end.status, end.error ?? end.message);
      return end;
    },
    async download(path: string): Promise<Blob> {
      const response = await request('GET', path, { accept: '*/*' });
      return response.blob().catch(() => {
        throw notReached();
      });
    },
    upload: (path: string, content: Blob, onProgress: (progress: Progress) => void): Promise<void> =>
      new Promise((resolve, reject) => {
        const request = new XMLHttpRequest(); // fetch does not report upload progress
        request.open('PUT', `/api${path}`);
        request.setRequestHeader('authorization', authorization);
        request.upload.onprogress = ({ loaded, total }) =>
          onProgress({ phase: 'upload', doneBytes: loaded, totalBytes: total });
        request.onload = () =>
          request.status < 400 ? resolve() : reject(refused(request.status, request.responseText));
        request.onerror = () => reject(notReached());
        request.send(content);
      }),
  };
}

/** Exchanges a one-time code for the token. @throws OperatorsError */
export async function exchangeCode(code: string): Promise<string> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const [body, signal] = [JSON.stringify({ code }), AbortSignal.timeout(READ_TIMEOUT_MS)];
  const response = await send('/operations/sign-in', { method: 'POST', headers, body, signal });
  if (!response.ok) throw refusalOf(response.status, await response.text().catch(() => ''));
  return (await json<OperatorsToken>(response)).data.token;
}

function send(path: string, request: RequestInit): Promise<Response> {
  return fetch(`/api${path}`, { ...request, cache: 'no-store' }).catch(() => {
    throw notReached();
  });
}

async function json<Body>(response: Response): Promise<Body> {
  try {
    return (await response.json()) as Body; // by the API description
  } catch {
    throw notReached();
  }
}

const refusalOf = (status: number, text: string) => new OperatorsError(status, messageIn(text));

/** Archive endpoints put the message into `error`, all others into `message`. */
function messageIn(text: string): string {
  try {
    const { message, error } = JSON.parse(text) as { message?: unknown; error?: unknown };
    if (typeof error === 'string') return error;
    if (typeof message === 'string') return message;
  } catch {
    // not a response of our server
  }
  return 'The server did not say why.';
}
