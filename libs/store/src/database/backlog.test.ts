import { Registry } from 'prom-client';
import { readBacklog, watchBacklog } from './backlog.ts';
import type { Database } from './database.ts';

const STATEMENT = { name: 'some-backlog', text: 'select …' };

it('shows a backlog as gauges, both from one read per scrape, and removes them while it cannot be read', async () => {
  let isAway = false;
  const asked: string[] = [];
  const database: Pick<Database, 'run'> = {
    async run(_kind, { name }) {
      asked.push(name);
      await new Promise(setImmediate);
      if (isAway) throw new Error('away');
      return [{ pending: 3, oldest_age_s: 7.5 } as never]; // what such a statement returns
    },
  };
  const registry = new Registry();
  watchBacklog(registry, {
    read: () => readBacklog(database, STATEMENT),
    pending: { name: 'waiting', help: 'What waits' },
    oldestPendingAge: { name: 'oldest_age', help: 'For how long' },
  });
  const scrape = async () => (await registry.metrics()).split('\n').filter((line) => /^\w/.test(line));
  const KNOWN = ['waiting 3', 'oldest_age 7.5'];
  expect(await scrape()).toEqual(KNOWN);
  expect(asked).toEqual([STATEMENT.name]);
  isAway = true;
  expect(await scrape()).toEqual([]);
  isAway = false;
  expect(await scrape()).toEqual(KNOWN);
  expect(asked).toHaveLength(3);
});
