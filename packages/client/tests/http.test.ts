import { createPost, readRestFailure } from '../src/http.ts';
import { READ_TASK } from '../src/operations.generated.ts';
import { sendWrite } from '../src/writes/send-write.ts';
import { keyOf, newKey } from '../src/writes/write.ts';
import { realTime } from '../src/time.ts';

it.each([2 ** 31, Infinity])('a timer of %d milliseconds does not fire at once', async (ms) => {
  let calls = 0;
  const cancel = realTime.after(ms, () => (calls += 1));
  await new Promise((resolve) => setTimeout(resolve, 50));
  cancel();
  expect(calls).toBe(0);
});

const URL = 'http://127.0.0.1:4000/graphql';

function createWorld(answer: (signal: AbortSignal) => Response | Promise<Response>, timeoutMs = 1_000) {
  const sent: { url: string; headers: Record<string, string>; body: unknown }[] = [];
  const fetch = (async (url: string, { headers, body, signal }: RequestInit) => {
    sent.push({ url, headers: headers as Record<string, string>, body: JSON.parse(String(body)) });
    return answer(signal as AbortSignal); // always present
  }) as typeof globalThis.fetch;
  return { sent, post: createPost({ url: URL, fetch, timeoutMs }) };
}

const read = ({ post }: ReturnType<typeof createWorld>) => post(READ_TASK, { id: '1' }, { token: 'token' });

it('sends an operation with the token and returns its data', async () => {
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

it('sends each write with a traceparent that identifies its change in the feed', async () => {
  const { post, sent } = createWorld(() => Response.json({ data: { deleteTask: '1' } }));
  const key = newKey();
  await sendWrite(post, { kind: 'delete', taskId: '1', key, queuedAt: 0 }, false, 0);
  const { traceparent } = sent[0]?.headers ?? {};
  expect(traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-00$/);
  expect(keyOf(traceparent)).toBe(key);
});

describe('errors', () => {
  const graphql = (extensions: object) => Response.json({ data: null, errors: [{ message: 'no', extensions }] });
  const INVALID = { code: 'BAD_USER_INPUT', issues: [{ path: 'title', message: 'too short' }] };
  const [LIMITED, AWAY] = [{ code: 'RATE_LIMITED' }, { code: 'SERVICE_UNAVAILABLE' }];

  it.each([
    ['an error of the server', graphql({ code: 'NOT_FOUND' }), { code: 'NOT_FOUND' }],
    ['an invalid input', graphql(INVALID), INVALID],
    ['a rate limit', graphql({ ...LIMITED, retryAfterSeconds: 9 }), { ...LIMITED, retryAfterMs: 9_000 }],
    ['a page of a proxy with status 502', new Response('<html>', { status: 502 }), AWAY],
    [
      'Retry-After',
      new Response('', { status: 503, headers: { 'retry-after': '3' } }),
      { ...AWAY, retryAfterMs: 3_000 },
    ],
    ['a request timeout (408)', Response.json({ error: { code: 'BAD_USER_INPUT' } }, { status: 408 }), AWAY],
    ['a page instead of the response', new Response('<html>'), { code: 'NETWORK' }],
  ])('maps %s to its code', async (_whose, response, error) => {
    await expect(read(createWorld(() => response))).rejects.toMatchObject({ name: 'TaskmeshError', ...error });
  });

  // The gateway says in the body what is wrong. Without that, most are of a proxy, and say nothing about the request.
  it.each([
    ...[401, 403, 404, 405, 407, 410, 421, 500, 501].map((status) => [status, 'NETWORK'] as const),
    ...[400, 413, 414, 415, 422, 431].map((status) => [status, 'INTERNAL_SERVER_ERROR'] as const),
  ])('maps a bare %i to %s', async (status, code) => {
    await expect(read(createWorld(() => new Response('<html>', { status })))).rejects.toMatchObject({ code });
  });

  it('keeps what has a message of the gateway apart from a proxy’s', async () => {
    for (const [status, code] of Object.entries({ 401: 'UNAUTHENTICATED', 404: 'INTERNAL_SERVER_ERROR' })) {
      const of = { status: Number(status) };
      const response = Response.json({ success: false, message: 'no', error: 'no' }, of);
      expect(await readRestFailure(response)).toMatchObject({ code, message: 'no' });
      expect(await readRestFailure(new Response('', of))).toMatchObject({ code: 'NETWORK' });
    }
  });

  it('maps a network failure and a timeout to NETWORK', async () => {
    const world = createWorld(() => Promise.reject(new TypeError('fetch failed')));
    await expect(read(world)).rejects.toMatchObject({ code: 'NETWORK', message: 'fetch failed' });
    const silent = (signal: AbortSignal) =>
      new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    await expect(read(createWorld(silent, 5))).rejects.toMatchObject({ code: 'NETWORK' });
  });
});
