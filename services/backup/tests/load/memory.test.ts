import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDump } from '../../src/restore/load-dump.ts';
import { growthOf } from '../support/memory.ts';
import { createFreshTestDatabase, type FreshTestDatabase } from '../support/restore-database.ts';
import { HEAVY_DUMPS } from './heavy-dumps.ts';

/** Of the process and its children, over what they had before. */
const BOUND_MIB = 128;

let database: FreshTestDatabase;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'taskmesh-memory-'));
});
afterAll(() => rm(dir, { recursive: true }));
beforeEach(async () => {
  database = await createFreshTestDatabase('memory');
});
afterEach(() => database.drop());

describe('the memory of a load', () => {
  it.each(HEAVY_DUMPS)(
    'is bounded for %s',
    async (_what, dump) => {
      const path = join(dir, 'database.sql');
      await writeFile(path, dump());
      let failure: unknown;
      const growth = await growthOf(() =>
        loadDump({ path, url: database.loaderUrl, signal: AbortSignal.timeout(100_000) }).catch(
          (error: unknown) => (failure = error),
        ),
      );
      expect(growth).toBeLessThan(BOUND_MIB);
      expect(String(failure)).not.toContain('its process has ended');
    },
    120_000,
  );
});
