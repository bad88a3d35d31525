import { numberFromEnv } from '@taskmesh/testing';
import { printLine } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROTOCOLS, PROTOCOLS_WITH_NAMES } from '../feed/streams/protocols.ts';
import { runCampaign, type DoneFault } from './campaign.ts';
import { useStack } from '../stack.ts';
import { inject } from './inject.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_122);
/** Longer than an event waits for the fields of another service. */
const AWAY_MS = 60_000;
const CALM_MS = 8_000;

const faulty = useStack('auth-away');

it('the feed, while auth, which supplies the names of owners, is down for a minute, delivers every event complete or not at all, and exactly once', async () => {
  const faults = async (_accounts: unknown, random: () => number): Promise<DoneFault[]> => {
    await sleep(CALM_MS * random());
    printLine(`freeze auth for ${AWAY_MS / 1000} s`);
    await inject(faulty, { target: 'auth', kind: 'freeze', forMs: AWAY_MS });
    await sleep(CALM_MS);
    return [{ target: 'auth', kind: 'freeze' }];
  };
  const withNames = new Set(PROTOCOLS_WITH_NAMES.map(({ protocol }) => protocol));
  const protocols = [...PROTOCOLS.filter(({ protocol }) => !withNames.has(protocol)), ...PROTOCOLS_WITH_NAMES];
  const owners = Array.from({ length: 3 }, () => ({ paceMs: 150, protocols }));
  const cutEveryMs = 2 * AWAY_MS; // most streams stay connected to the end
  const result = await runCampaign({ urls: faulty.stack.urls, seed: SEED, owners, faults, cutEveryMs });
  expect(result.findings).toEqual([]);
  const { writes, streams } = result.figures;
  expect(writes.confirmed).toBeGreaterThan(100);
  // Streams without names do not wait for auth.
  for (const [protocol, { longestMs }] of Object.entries(streams))
    expect({ protocol, waited: longestMs > AWAY_MS / 2 }).toEqual({ protocol, waited: withNames.has(protocol) });
}, 300_000);
