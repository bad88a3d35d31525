import { DEMO_ACCOUNT, seed } from '@taskmesh/local';
import { freePort } from '@taskmesh/testing';
import { startTraceCollector, type TraceCollector } from '@taskmesh/testing/trace-collector';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeJourney } from './journey.ts';
import { describeMetrics } from './metrics.ts';
import { describeOperations } from './operations.ts';
import { describeRestore } from './restore.ts';
import { describeTraces, tracesTo } from './traces.ts';
import { useEmbedded } from '../../embedded.ts';
import { logIn } from '../../http.ts';

describe('the embedded platform', () => {
  let collector: TraceCollector;
  const { dataDir, platform } = useEmbedded(async () => {
    collector = await startTraceCollector();
    return { ADMIN_PORT: String(await freePort()), ...tracesTo(collector) };
  });
  const urls = () => ({ urls: [platform().url] });

  it('writes logs that only their owner can read', () => {
    const modes = readdirSync(join(dataDir, 'logs')).map((file) => statSync(join(dataDir, 'logs', file)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]); // our log and PostgreSQL's
  });

  describeJourney(urls);
  describeMetrics(() => ({ adminUrls: [platform().adminUrl] }));
  describeTraces(() => ({ ...urls(), collector, isSplit: false }));
  describeOperations(() => ({ ...urls(), dataDir, eventLog: 'memory' }));

  it('has demo data on request: an account with a list, which is created once and never changed afterwards; without a running Taskmesh it is refused', async () => {
    const { url } = platform();
    const tasks = async () => (await logIn(url, DEMO_ACCOUNT)).list();
    const made = await seed(url);
    const listed = await tasks();
    expect(made).toBe(listed.length);
    expect(new Set(listed.map(({ category }) => category))).toEqual(new Set(['work', 'home', 'garden']));
    expect(listed.map(({ due_date: due }) => due === null)).toEqual(expect.arrayContaining([true, false]));
    expect(await seed(url)).toBe(0);
    expect(await tasks()).toEqual(listed);
    const nowhere = 'There is no Taskmesh at http://127.0.0.1:1. Start one, or name its address';
    await expect(seed('http://127.0.0.1:1')).rejects.toThrow(nowhere);
  });

  describeRestore(() => ({ ...urls(), backupsDir: join(dataDir, 'backups') }));
});
