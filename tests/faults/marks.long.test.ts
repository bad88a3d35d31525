import { createRandom, eventually, numberFromEnv, query } from '@taskmesh/testing';
import { underLoad } from './campaign.ts';
import { queryStore, useStack } from '../stack.ts';
import { inject } from './inject.ts';
import { readPublished } from './published.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_124);
const ROUNDS = 4;
const WRITES = 60;

describe('published marks that PostgreSQL had not flushed when it was killed', () => {
  const random = createRandom(SEED);
  const faulty = useStack('marks');

  const allMarked = async () => {
    const unmarked = 'select exists(select 1 from changes where published_at is null) as left';
    const [row] = await queryStore(faulty.stack, 'tasks', unmarked);
    return row?.left === false;
  };

  it('are set again: Kafka gets the changes twice, and every protocol delivers them once', async () => {
    const { stack } = faulty;
    const published = await readPublished(stack);
    await query(stack.servers.postgres, `alter system set wal_writer_delay = '10s'`);
    await query(stack.servers.postgres, 'select pg_reload_conf()');
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
