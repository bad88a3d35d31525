import { type ApiDescription, createDescriptionCheck } from '@taskmesh/testing/api-description';
import type { TestGateway } from './gateway.ts';

/** Sends this many different wrong operator tokens, and returns the statuses. */
export function guess(
  origin: string,
  count: number,
  { path = '/api/operations/status', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<number[]> {
  const tries = Array.from({ length: count }, async (_, index) => {
    const authorization = `Bearer wrong-${index}`;
    return (await fetch(`${origin}${path}`, { headers: { ...headers, authorization } })).status;
  });
  return Promise.all(tries);
}

export interface RestOptions {
  headers?: Record<string, string>;
  /** Bytes and strings are sent unchanged, everything else as JSON. */
  body?: unknown;
  /** Where the request is sent, if not to the described gateway. */
  origin?: string;
}

/** Sends requests and validates each response against the API description of this gateway. */
export async function restOf(gateway: Pick<TestGateway, 'origin'>) {
  const response = await fetch(`${gateway.origin}/api/openapi.json`);
  const description = (await response.json()) as ApiDescription;
  const { check } = createDescriptionCheck(description);
  const call = async (method: string, path: string, { headers, body, origin = gateway.origin }: RestOptions = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(origin + path, {
      method,
      headers: { ...(body !== undefined && !isRaw && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const seen = { method, path, status: response.status, headers: response.headers, text };
    check(seen);
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read any field, and fail if it is missing
    const json: any = isJson ? JSON.parse(text) : {};
    return { ...seen, json };
  };
  return { description, check, call };
}

export type RestCall = Awaited<ReturnType<typeof restOf>>['call'];
