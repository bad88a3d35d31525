import { databaseUrl, withPostgres } from '@taskmesh/local';
import { eventually } from '@taskmesh/testing';
import { underLoad } from './campaign.ts';
import { useStack } from '../stack.ts';
import { inject } from './inject.ts';
import { readPublished } from './published.ts';
import { createRandom, numberFromEnv } from './random.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_124);
const ROUNDS = 4;
const WRITES = 60;

describe('published marks that PostgreSQL had not flushed when it was killed', () => {
  const random = createRandom(SEED);
  const faulty = useStack('marks');

  const query = (text: string, database = 'postgres') =>
    withPostgres(databaseUrl(faulty.stack.servers.postgres, database), async (client) => {
      return (await client.query<Record<string, unknown>>(text)).rows;
    });
  const allMarked = async () => {
    const [row] = await query(
      'select exists(select 1 from changes where published_at is null) as left',
      'taskmesh_tasks',
    );
    return row?.left === false;
  };

  it('are set again: Kafka gets the changes twice, and every protocol delivers them once', async () => {
    const { stack } = faulty;
    const published = await readPublished(stack);
    await query(`alter system set wal_writer_delay = '10s'`);
    await query('select pg_reload_conf()');
    const again: number[] = [];
    const findings: unknown[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const load = { urls: stack.urls, names: [`marks-${round}-of-${SEED}`], random, paceMs: 20 };
      const outcome = await underLoad(load, async ([account]) => {
        await eventually(() => (account?.figures().confirmed ?? 0) > WRITES);
        await account?.stopWriting();
        await eventually(allMarked, { everyMs: 1 });
        await inject(faulty, { target: 'postgres', kind: 'kill', forMs: 0 });
        await eventually(allMarked);
        again.push(published.timesAgain(account?.ownerId ?? ''));
      });
      findings.push(...outcome.findings);
    }
    await published.close();
    console.info(`delivered again: ${again.join(', ')}`);
    expect(findings).toEqual([]);
    expect(Math.max(...again)).toBeGreaterThan(0);
  }, 240_000);
});
