import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { DEMO_ACCOUNT, findFreePorts, seed } from '@taskmesh/local';
import { makeTempDir } from '@taskmesh/testing';
import { startTraceCollector, type TraceCollector } from '@taskmesh/testing/trace-collector';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describeOwnAccount } from './accounts.ts';
import { describeJourney } from './journey.ts';
import { describeMetrics } from './metrics.ts';
import { describeOperations } from './operations.ts';
import { describeRestore } from './restore.ts';
import { describeTraces, tracesTo } from './traces.ts';
import { createRest } from '../../http.ts';

/** The demo data, as seen by a user of the demo account. */
function describeSeed(platform: () => { urls: string[] }) {
  const url = () => platform().urls[0] ?? '';

  async function tasks() {
    const rest = createRest(url());
    const { email, password } = DEMO_ACCOUNT;
    const login = await rest<{ access_token: string }>('POST', '/auth/login', { body: { email, password } });
    const { body } = await rest<{ data: { title: string; category: string; due_date: string | null }[] }>(
      'GET',
      '/tasks',
      { token: login.body.access_token },
    );
    return body.data;
  }

  describe('the demo data', () => {
    it('are an account with a list', async () => {
      const made = await seed(url());
      const listed = await tasks();
      expect(made).toBe(listed.length);
      expect(new Set(listed.map(({ category }) => category))).toEqual(new Set(['work', 'home', 'garden']));
      expect(listed.map(({ due_date: due }) => due === null)).toEqual(expect.arrayContaining([true, false]));
    });

    it('are created once, and never changed afterwards', async () => {
      const before = await tasks();
      expect(await seed(url())).toBe(0);
      expect(await tasks()).toEqual(before);
    });

    it('need a running Taskmesh', async () => {
      await expect(seed('http://127.0.0.1:1')).rejects.toThrow(
        'There is no Taskmesh at http://127.0.0.1:1. Start one, or name its address',
      );
    });
  });
}

describe('the embedded platform', () => {
  const dataDir = makeTempDir();
  let platform: Embedded;
  let collector: TraceCollector;

  beforeAll(async () => {
    collector = await startTraceCollector();
    const [adminPort] = await findFreePorts(1);
    const ports = { PORT: '0', ADMIN_PORT: String(adminPort) };
    const env = { DATA_DIR: dataDir, ...ports, LOG_LEVEL: 'warn', ...tracesTo(collector) };
    platform = await startEmbedded({ env, progress: () => {} });
  }, 180_000);
  afterAll(() => platform.stop(), 180_000);

  it('writes logs that only their owner can read', () => {
    const modes = readdirSync(join(dataDir, 'logs')).map((file) => statSync(join(dataDir, 'logs', file)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]); // our log and PostgreSQL's
  });

  describeJourney(() => ({ urls: [platform.url] }));
  describeOwnAccount(() => ({ urls: [platform.url] }));
  describeMetrics(() => ({ adminUrls: [platform.adminUrl] }));
  describeTraces(() => ({ urls: [platform.url], collector, isSplit: false }));
  describeOperations(() => ({ urls: [platform.url], dataDir, eventLog: 'memory' }));
  describeSeed(() => ({ urls: [platform.url] }));
  describeRestore(() => ({ urls: [platform.url], backupsDir: join(dataDir, 'backups') }));
});
