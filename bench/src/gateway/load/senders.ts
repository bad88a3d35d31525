import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Client } from 'undici';
import { keepBusy } from '../../load/connections.ts';

export type Sender = Awaited<ReturnType<typeof openSender>>;

export interface SendersOptions {
  url: string;
  query: string;
  /** The right answer, as JSON. */
  expected: string;
  connections: number;
}

/** Opens keep-alive connections and compares one answer on each with the right one. @throws when it is another */
export async function openSenders({ connections, ...options }: SendersOptions): Promise<Sender[]> {
  return Promise.all(Array.from({ length: connections }, () => openSender(options)));
}

/** One connection. */
async function openSender({ url, query, expected }: Omit<SendersOptions, 'connections'>) {
  const { origin, pathname } = new URL(url);
  const client = new Client(origin);
  const body = JSON.stringify({ query });
  const send = async (): Promise<string> => {
    const response = await client.request({
      method: 'POST',
      path: pathname,
      // Each request is somebody else's: no gateway may answer two of them with one fetch.
      headers: { 'content-type': 'application/json', authorization: `Bearer ${randomUUID()}` },
      body,
    });
    const text = await response.body.text();
    if (response.statusCode === 200) return text;
    throw new Error(`${url} answered ${response.statusCode} ${text.slice(0, 500)}`);
  };
  const first = await send();
  const { data, errors }: { data?: unknown; errors?: unknown } = JSON.parse(first);
  if (errors !== undefined || !isDeepStrictEqual(data, JSON.parse(expected).data))
    throw new Error(`${url} answered something else: ${first.slice(0, 500)}`);
  const next = async () => {
    const { length } = await send();
    if (length !== first.length) throw new Error(`${url} answered ${length} characters, and before ${first.length}.`);
  };
  return { keepBusy: (untilMs: number) => keepBusy(next, untilMs), close: () => client.close() };
}
