import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { eventually } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROTOCOLS } from '../feed/streams/protocols.ts';
import { underLoad } from './campaign.ts';
import { createRandom, numberFromEnv } from './random.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_127);
/** Of each stream. */
const RETURNS = 5;

describe('connections that may only become a second old', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-age-'));
  let platform: Embedded;

  beforeAll(async () => {
    const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', REALTIME_MAX_CONNECTION_AGE_S: '1' };
    platform = await startEmbedded({ env, progress: () => {} });
  }, 180_000);
  afterAll(async () => {
    await platform.stop();
    rmSync(dataDir, { recursive: true });
  }, 180_000);

  it('lose, repeat and reorder nothing under writes, in any protocol', async () => {
    const load = {
      ...{ urls: [platform.url], names: [`aging-of-${SEED}`], random: createRandom(SEED), paceMs: 20 },
      // Not even the channel: before it ends it sends the cursor behind its last change.
      protocols: PROTOCOLS.map(({ protocol, connect }) => ({ protocol, connect })),
    };
    const { findings, figures } = await underLoad(load, async ([account]) => {
      const resumes = () => Math.min(...(account?.streams ?? []).map((stream) => stream.resumes()));
      await eventually(() => expect(resumes()).toBeGreaterThanOrEqual(RETURNS), { timeoutMs: 60_000 });
    });
    expect(findings).toEqual([]);
    for (const { events } of Object.values(figures.streams))
      expect(events).toBeGreaterThanOrEqual(figures.writes.confirmed);
  }, 180_000);
});
