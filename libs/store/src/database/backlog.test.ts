import { Registry } from 'prom-client';
import { readBacklog, watchBacklog } from './backlog.ts';
import type { Database } from './database.ts';

const STATEMENT = { name: 'some-backlog', text: 'select …' };

function fixture() {
  const state = { isAway: false, asked: [] as string[] };
  const database: Pick<Database, 'run'> = {
    async run(_kind, { name }) {
      state.asked.push(name);
      await new Promise(setImmediate);
      if (state.isAway) throw new Error('away');
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
  return { state, scrape };
}

describe('the gauges of a backlog', () => {
  it('are from one reading, a new one for each scrape', async () => {
    const { state, scrape } = fixture();
    expect(await scrape()).toEqual(['waiting 3', 'oldest_age 7.5']);
    expect(state.asked).toEqual([STATEMENT.name]);
    await scrape();
    expect(state.asked).toHaveLength(2);
  });

  it('are absent while it cannot be read', async () => {
    const { state, scrape } = fixture();
    await scrape();
    state.isAway = true;
    expect(await scrape()).toEqual([]);
    state.isAway = false;
    expect(await scrape()).toEqual(['waiting 3', 'oldest_age 7.5']);
  });
});
