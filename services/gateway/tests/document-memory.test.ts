import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const PROGRAM = join(import.meta.dirname, 'document-memory.main.ts');

/** The last texts of events, of all documents together. */
const FINISHED_TEXTS_BYTES = 9 * 1024 * 1024;

interface Kept {
  shape: string;
  keptBytes: number;
  countedBytes: number;
}

describe('the memory of cached documents', () => {
  // In a separate process, so that nothing else grows the heap.
  it('is at most what their cache counts, including plans, variants, renderers and projections', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', PROGRAM]);
    const kept = JSON.parse(stdout) as Kept[];
    expect(kept.map(({ shape }) => shape)).toContain('introspection');
    const uncounted = kept.filter(
      ({ shape, keptBytes, countedBytes }) =>
        keptBytes > countedBytes + (shape === 'long events' ? FINISHED_TEXTS_BYTES : 0),
    );
    expect(uncounted).toEqual([]);
  }, 120_000);
});
