import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { findFreePorts } from '@taskmesh/local';
import { startTraceCollector, type TraceCollector } from '@taskmesh/testing/trace-collector';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeOwnAccount } from './accounts.ts';
import { describeJourney } from './journey.ts';
import { describeMetrics } from './metrics.ts';
import { describeOperations } from './operations.ts';
import { describeRestore } from './restore.ts';
import { describeSeed } from './seed.ts';
import { describeTraces, tracesTo } from './traces.ts';

describe('the embedded platform', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-journey-'));
  let platform: Embedded;
  let collector: TraceCollector;

  beforeAll(async () => {
    collector = await startTraceCollector();
    const [adminPort] = await findFreePorts(1);
    const ports = { PORT: '0', ADMIN_PORT: String(adminPort) };
    const env = { DATA_DIR: dataDir, ...ports, LOG_LEVEL: 'warn', ...tracesTo(collector) };
    platform = await startEmbedded({ env, progress: () => {} });
  }, 180_000);
  afterAll(async () => {
    await platform.stop();
    await collector.stop();
    rmSync(dataDir, { recursive: true });
  }, 180_000);

  it('writes logs that no one else may read', () => {
    const modes = readdirSync(join(dataDir, 'logs')).map((file) => statSync(join(dataDir, 'logs', file)).mode & 0o777);
    expect(modes).toEqual([0o600, 0o600]); // ours and PostgreSQL's
  });

  describeJourney(() => ({ urls: [platform.url] }));
  describeOwnAccount(() => ({ urls: [platform.url] }));
  describeMetrics(() => ({ adminUrls: [platform.adminUrl] }));
  describeTraces(() => ({ urls: [platform.url], collector, isSplit: false }));
  describeOperations(() => ({ urls: [platform.url], dataDir, eventLog: 'memory' }));
  describeSeed(() => ({ urls: [platform.url] }));
  describeRestore(() => ({ urls: [platform.url], backupsDir: join(dataDir, 'backups') }));
});
