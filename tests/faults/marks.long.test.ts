import { databaseUrl } from '@taskmesh/local';
import { eventually } from '@taskmesh/testing';
import { Client } from 'pg';
import { createAccount, type Account } from './account.ts';
import { conclude } from './campaign.ts';
import { useFaultStack } from './fault-stack.ts';
import { inject } from './inject.ts';
import { readPublished } from './published.ts';
import { createRandom, numberFromEnv } from './random.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_124);
const ROUNDS = 4;
const WRITES = 60;

describe('marks of published changes that were not on the disk when PostgreSQL was killed', () => {
  const random = createRandom(SEED);
  const faulty = useFaultStack('marks');

  const query = async (text: string, database = 'postgres') => {
    const client = new Client({ connectionString: databaseUrl(faulty.stack.servers.postgres, database) });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const allMarked = async () => {
    const [row] = await query(
      'select exists(select 1 from changes where published_at is null) as left',
      'taskmesh_tasks',
    );
    return row?.left === false;
  };

  it('are made again: Kafka has the changes twice, and every protocol delivers them once', async () => {
    const { stack } = faulty;
    const published = await readPublished(stack);
    await query(`alter system set wal_writer_delay = '10s'`);
    await query('select pg_reload_conf()');
    const accounts: Account[] = [];
    const again: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const account = await createAccount({ urls: stack.urls, name: `owner-marks-${round}`, random, paceMs: 20 });
      accounts.push(account);
      await eventually(() => account.figures().confirmed > WRITES);
      await account.stopWriting();
      await eventually(allMarked, { everyMs: 1 });
      await inject(faulty, { target: 'postgres', kind: 'kill', forMs: 0 });
      await eventually(allMarked);
      again.push(published.timesDelivered(account.ownerId) - published.of(account.ownerId).length);
    }
    const { findings, figures } = await conclude(accounts);
    await published.close();
    console.info(`seed ${SEED}, PostgreSQL killed:`, JSON.stringify({ again, ...figures }));
    expect(findings).toEqual([]);
    expect(Math.max(...again)).toBeGreaterThan(0);
  }, 240_000);
});
