import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** What a program of ours printed as JSON. It has a process to itself, so that nothing else grows the heap. */
async function resultOf<Result>(program: string, ...options: string[]): Promise<Result> {
  const file = join(import.meta.dirname, `${program}.main.ts`);
  const { stdout } = await promisify(execFile)(process.execPath, [...options, file]);
  return JSON.parse(stdout) as Result;
}

it('a gateway whose memory is filled by something that no limit counts refuses requests that need much memory, serves the rest, and recovers', async () => {
  const { whileShort, share, logged } = await resultOf<{
    whileShort: Record<string, unknown> & { largePages: unknown[] };
    share: number;
    logged: string[];
  }>('short-memory', '--max-old-space-size=256', '--max-semi-space-size=8');
  const refused = { status: 503, retryAfter: '1' };
  const served = { status: 200, retryAfter: null };
  expect(whileShort).toEqual({
    largePages: whileShort.largePages.map(() => refused),
    ...{ largePageOfRest: refused, largeBody: refused, stream: refused },
    join: 'UnableToSubscribe: The service is not available right now',
    ...{ ordinary: served, ready: served, health: served },
  });
  expect(share).toBeGreaterThan(0.7);
  expect(logged).toEqual(['memory is short: what would take much of it is refused', 'memory is no longer short']);
});

/** The last texts of events, of all documents together. */
const FINISHED_TEXTS_BYTES = 9 * 1024 * 1024;

it('the memory of cached documents is at most what their cache counts, including plans, variants, renderers and projections', async () => {
  const kept = await resultOf<{ shape: string; keptBytes: number; countedBytes: number }[]>(
    'document-memory',
    '--expose-gc',
  );
  expect(kept.map(({ shape }) => shape)).toContain('introspection');
  const uncounted = kept.filter(
    ({ shape, keptBytes, countedBytes }) =>
      keptBytes > countedBytes + (shape === 'long events' ? FINISHED_TEXTS_BYTES : 0),
  );
  expect(uncounted).toEqual([]);
});
