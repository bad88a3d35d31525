import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PROGRAM = join(import.meta.dirname, 'short-memory.main.ts');
const SMALL_HEAP = ['--max-old-space-size=256', '--max-semi-space-size=8'];

interface Outcome {
  whileShort: Record<string, unknown> & { largePages: unknown[] };
  share: number;
  logged: string[];
}

describe('a gateway whose memory is filled by something that no limit counts', () => {
  it('refuses requests that need much memory, serves the rest, and recovers', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [...SMALL_HEAP, PROGRAM]);
    const { whileShort, share, logged } = JSON.parse(stdout) as Outcome;
    const refused = { status: 503, retryAfter: '1' };
    const served = { status: 200, retryAfter: null };
    expect(whileShort).toEqual({
      largePages: whileShort.largePages.map(() => refused),
      largePageOfRest: refused,
      largeBody: refused,
      stream: refused,
      ordinary: served,
      ready: served,
      health: served,
    });
    expect(share).toBeGreaterThan(0.7);
    expect(logged).toEqual(['memory is short: what would take much of it is refused', 'memory is no longer short']);
  }, 120_000);
});
