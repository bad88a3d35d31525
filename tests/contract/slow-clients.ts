import { closed } from '@taskmesh/testing';
import { answerOf, openRaw } from '@taskmesh/testing/raw';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, clientOf, type Platform } from './client.ts';

/** The limit of the platform in `describeSlowClients` for a whole request. Headers must arrive within half of it. */
export const REQUEST_TIMEOUT_S = 2;
const REQUEST_MS = REQUEST_TIMEOUT_S * 1_000;
/** Covers the interval at which the server checks, and a busy machine. */
const TOLERANCE_MS = 1_500;

type Cut = Awaited<ReturnType<typeof trickle>>;

/** Sends `head`, and then `rest` one byte at a time. Resolves when the server closes the connection. */
async function trickle(origin: string, head: string, rest = '') {
  const began = performance.now();
  const socket = await openRaw(origin, head);
  const bytes = rest[Symbol.iterator]();
  const timer = setInterval(() => {
    const { value } = bytes.next();
    if (value !== undefined && socket.writable) socket.write(value);
  }, 100);
  await closed(socket);
  clearInterval(timer);
  return { ...answerOf(socket.response), afterMs: performance.now() - began };
}

/** Sent one byte at a time, lasts longer than any limit. */
const ENDLESS = 'x'.repeat(1_000);
const HEAD = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Long: ';
const CROWD = 100;

/** Clients that send too slowly, all at the same time: they are cut off, and other clients do not notice them. */
export function describeSlowClients(platform: () => Platform) {
  const client = clientOf(platform);
  let account: Account;
  let cuts: Map<string, Cut>;
  let crowd: Cut[];
  /** The number of responses to other clients while the whole crowd was still connected. */
  let answered: number;

  const post = (header: string, body: string) => {
    const authorization = `Authorization: Bearer ${account.token}`;
    const head = ['POST /full/api/tasks HTTP/1.1', 'Host: localhost', authorization, 'Content-Type: application/json'];
    return [...head, header, '', body].join('\r\n');
  };
  const slow: [what: string, limitMs: number, head: () => string, rest?: string][] = [
    ['begins its headers and falls silent', REQUEST_MS / 2, () => 'GET /livez HTTP/1.1\r\nHo'],
    ['sends a header a byte at a time', REQUEST_MS / 2, () => HEAD, ENDLESS],
    ['sends a part of its body and falls silent', REQUEST_MS, () => post('Content-Length: 24', '{"title":"Never')],
    ['sends its body a byte at a time', REQUEST_MS, () => post('Content-Length: 1000', '{"title":"'), ENDLESS],
    ['never ends its chunks', REQUEST_MS, () => post('Transfer-Encoding: chunked', '10\r\n{"title":"Never ')],
  ];

  const list = () => client.call('GET', '/full/api/tasks', { token: account.token });
  const bodyOf = (text: string) => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4));

  describe('a slow client', () => {
    beforeAll(async () => {
      account = await client.signUp();
      const { url } = platform();
      const eachSent = Promise.all(
        slow.map(async ([what, , head, rest]) => [what, await trickle(url, head(), rest)] as const),
      );
      const crowdSent = Array.from({ length: CROWD }, () => trickle(url, HEAD, ENDLESS));
      let isCrowdWhole = true;
      void Promise.race(crowdSent).finally(() => (isCrowdWhole = false));
      answered = 0;
      while (isCrowdWhole) {
        expect((await list()).status).toBe(200);
        if (isCrowdWhole) answered++;
        await sleep(20);
      }
      cuts = new Map(await eachSent);
      crowd = await Promise.all(crowdSent);
    }, 180_000);

    it.each(slow)('that %s gets a response and is cut off', (what, limitMs) => {
      const { status, text, afterMs } = cuts.get(what) ?? { status: NaN, text: '', afterMs: NaN };
      expect([status, text]).toEqual([408, expect.stringMatching(/^Connection: close\r$/im)]);
      expect(bodyOf(text)).toEqual({ message: expect.any(String), error: { code: 'BAD_USER_INPUT' } });
      expect(afterMs).toBeGreaterThan(limitMs - 100);
      expect(afterMs).toBeLessThan(limitMs + TOLERANCE_MS);
    });

    it('that sends nothing is cut off without a response, which could be mistaken for that of a late request', async () => {
      const { text, afterMs } = await trickle(platform().url, '');
      expect(text).toBe('');
      expect(afterMs).toBeGreaterThan(REQUEST_MS / 2 - 100);
      expect(afterMs).toBeLessThan(REQUEST_MS / 2 + TOLERANCE_MS);
    });

    it('does not delay other clients, even if there are a hundred of them', () => {
      expect(crowd.filter(({ status }) => status !== 408)).toEqual([]);
      expect(crowd).toHaveLength(CROWD);
      expect(answered).toBeGreaterThan(2); // not only responses from before the crowd
    });

    it('stores nothing, even if it disconnects before its body is complete', async () => {
      const socket = await openRaw(platform().url, post('Content-Length: 100', '{"title":"Never stored"}'));
      socket.end();
      await closed(socket);
      expect((await list()).body.count).toBe(0);
    });
  });
}
