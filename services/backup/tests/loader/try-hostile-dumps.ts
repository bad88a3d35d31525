import { databaseOf } from '@taskmesh/database';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkBareTables } from '../../src/databases/bare-tables.ts';
import { withClient } from '../../src/databases/connect.ts';
import { loadDump } from '../../src/loader/load-dump.ts';
import { LoadError } from '../../src/loader/load-error.ts';
import { DATABASE_STATE, SERVER_STATE, STORE_STATE } from '../support/catalogue.ts';
import { createFreshTestDatabase } from '../support/restore-database.ts';
import { hostileDump } from './hostile-grammar.ts';

/** Loads the dumps of the seeds, one after the other. Says how many brought rows; throws at the first that did more. */
export async function tryHostileDumps(seeds: Iterable<number>): Promise<{ loaded: number; refused: number }> {
  const dir = await mkdtemp(join(tmpdir(), 'taskmesh-hostile-'));
  const database = await createFreshTestDatabase('hostile');
  const { live, names, adminUrl } = database;
  const mark = join(dir, 'mark');
  await live.query('create table tasks (id int primary key, title text); grant select on tasks to public');
  const fresh = (text: string) => withClient(adminUrl, async (client) => (await client.query(text)).rows);
  const state = async () => [
    await live.query(DATABASE_STATE, [databaseOf(live.url)]),
    await live.query(DATABASE_STATE, [names.fresh]),
    await live.query(SERVER_STATE, [databaseOf(live.url)]),
    await live.query(STORE_STATE),
  ];
  const tally = { loaded: 0, refused: 0 };
  try {
    const before = await state();
    for (const seed of seeds) {
      const path = join(dir, 'database.sql');
      await writeFile(path, hostileDump(seed, { live: names.live, fresh: names.fresh, loader: names.loader, mark }));
      const end = await loadDump({ path, url: database.loaderUrl, signal: AbortSignal.timeout(20_000) }).catch((error: unknown) => error); // prettier-ignore
      try {
        const isRefused = end instanceof LoadError;
        if (isRefused && /ended|needs more/.test(end.message)) throw end;
        if (end instanceof Error && !isRefused) throw end;
        tally[isRefused ? 'refused' : 'loaded']++;
        await checkBareTables(adminUrl);
        expect(await state()).toEqual(before);
        expect(existsSync(mark)).toBe(false);
      } catch (cause) {
        throw new Error(`The dump of seed ${seed} did more than bring rows.`, { cause });
      }
      if (!(end instanceof LoadError)) await fresh(emptied(names.loader));
    }
    return tally;
  } finally {
    await database.drop();
    await rm(dir, { recursive: true });
  }
}

const emptied = (loader: string) =>
  `drop schema restored cascade; create schema restored; grant usage, create on schema restored to "${loader}"`;
