import { createPost } from '../src/http.ts';
import { READ_TASK } from '../src/operations.generated.ts';
import { sendWrite } from '../src/writes/send-write.ts';
import { keyOf, newKey } from '../src/writes/write.ts';

const URL = 'http://127.0.0.1:4000/graphql';

function createWorld(answer: (signal: AbortSignal) => Response | Promise<Response>, timeoutMs = 1_000) {
  const sent: { url: string; headers: Record<string, string>; body: unknown }[] = [];
  const fetch = (async (url: string, { headers, body, signal }: RequestInit) => {
    sent.push({ url, headers: headers as Record<string, string>, body: JSON.parse(String(body)) });
    return answer(signal as AbortSignal); // it is always given
  }) as typeof globalThis.fetch;
  return { sent, post: createPost({ url: URL, fetch, timeoutMs }) };
}

const read = ({ post }: ReturnType<typeof createWorld>) => post(READ_TASK, { id: '1' }, { token: 'token' });

it('sends an operation as who asks, and gives its data', async () => {
  const world = createWorld(() => Response.json({ data: { task: null } }));
  expect(await read(world)).toEqual({ task: null });
  expect(world.sent).toEqual([
    {
      url: URL,
      headers: { 'content-type': 'application/json', authorization: 'Bearer token' },
      body: { query: READ_TASK, variables: { id: '1' } },
    },
  ]);
});

it('sends each write with a trace by which the feed identifies its change', async () => {
  const { post, sent } = createWorld(() => Response.json({ data: { deleteTask: '1' } }));
  const key = newKey();
  await sendWrite(post, { kind: 'delete', taskId: '1', key, queuedAt: 0 }, false, 0);
  const { traceparent } = sent[0]?.headers ?? {};
  expect(traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/);
  expect(keyOf(traceparent)).toBe(key);
});

describe('an error', () => {
  const graphql = (extensions: object) => Response.json({ data: null, errors: [{ message: 'no', extensions }] });

  it.each([
    ['of the server', graphql({ code: 'NOT_FOUND' }), { code: 'NOT_FOUND' }],
    [
      'of an input',
      graphql({ code: 'BAD_USER_INPUT', issues: [{ path: 'title', message: 'too short' }] }),
      { code: 'BAD_USER_INPUT', issues: [{ path: 'title', message: 'too short' }] },
    ],
    [
      'of a limit',
      graphql({ code: 'RATE_LIMITED', retryAfterSeconds: 9 }),
      { code: 'RATE_LIMITED', retryAfterMs: 9_000 },
    ],
    ['of a proxy', new Response('<html>', { status: 502 }), { code: 'SERVICE_UNAVAILABLE' }],
    [
      'that says when to come back',
      new Response('', { status: 503, headers: { 'retry-after': '3' } }),
      { code: 'SERVICE_UNAVAILABLE', retryAfterMs: 3_000 },
    ],
    [
      'of a request that was too slow to arrive',
      Response.json({ error: { code: 'BAD_USER_INPUT' } }, { status: 408 }),
      { code: 'SERVICE_UNAVAILABLE' },
    ],
    ['of a page in between', new Response('<html>'), { code: 'NETWORK' }],
    // The server's own is a result: what a proxy wants says nothing about the session.
    ['of a proxy that wants a sign-in', new Response('', { status: 401 }), { code: 'NETWORK' }],
  ])('%s has its code', async (_whose, response, error) => {
    await expect(read(createWorld(() => response))).rejects.toMatchObject({ name: 'TaskmeshError', ...error });
  });

  it('of the network has one, too', async () => {
    const world = createWorld(() => Promise.reject(new TypeError('fetch failed')));
    await expect(read(world)).rejects.toMatchObject({ code: 'NETWORK', message: 'fetch failed' });
  });

  it('is no answer in time', async () => {
    const silent = (signal: AbortSignal) =>
      new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    await expect(read(createWorld(silent, 5))).rejects.toMatchObject({ code: 'NETWORK' });
  });
});
