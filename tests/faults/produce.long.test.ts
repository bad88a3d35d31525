import { findFreePort, startKafka } from '@taskmesh/local';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, eventually, numberFromEnv } from '@taskmesh/testing';
import { expectKept, underLoad } from './campaign.ts';
import { useStack } from '../stack.ts';
import { createProduceProxy, type ProduceFault, type ProduceProxy } from './produce-proxy.ts';
import { readPublished } from './published.ts';

const SEED = numberFromEnv('TASKMESH_SEED', 20_261_124);
const OWNERS = 3;
const CALM_MS = 1_000;

interface Trial {
  fault: ProduceFault;
  share: number;
  forMs: number;
}

/** Faults that the producer notices only after seconds need more time. */
const TRIALS: Trial[] = [
  { fault: 'torn request', share: 0.3, forMs: 6_000 },
  { fault: 'torn answer', share: 0.3, forMs: 6_000 },
  { fault: 'denial', share: 0.3, forMs: 6_000 },
  { fault: 'trickle', share: 0.5, forMs: 4_000 },
  { fault: 'throttling', share: 0.2, forMs: 8_000 },
  { fault: 'no answer', share: 0.3, forMs: 16_000 },
  { fault: 'late request', share: 0.3, forMs: 20_000 },
];

describe('a broker whose responses to the relay fail', () => {
  const random = createRandom(SEED);
  let proxy: ProduceProxy;
  const faulty = useStack('produce', async (folder) => {
    const port = await findFreePort();
    proxy = await createProduceProxy(() => port, random);
    const properties = [`advertised.listeners=PLAINTEXT://127.0.0.1:${proxy.port}`];
    const kafka = await startKafka({ dataDir: join(folder, 'kafka'), log: () => {}, port, properties });
    return {
      env: { KAFKA_BROKERS: `127.0.0.1:${proxy.port}` },
      stop: async () => {
        await proxy.close();
        await kafka.stop();
      },
    };
  });

  it.each(TRIALS)(
    'loses, repeats and reorders nothing in any protocol: $fault',
    async ({ fault, share, forMs }) => {
      const published = await readPublished(faulty.stack);
      const names = Array.from({ length: OWNERS }, (_, owner) => `${fault.replace(' ', '-')}-${owner}-of-${SEED}`);
      const load = { urls: faulty.stack.urls, names, random, paceMs: 40 };
      const kept = await underLoad(load, async () => {
        await sleep(CALM_MS);
        proxy.inject(fault, share);
        await sleep(forMs);
        proxy.inject(undefined);
        await eventually(() => expect(proxy.counts.get(fault)).toBeGreaterThan(0));
      });
      const again = kept.accounts.map(({ ownerId }) => published.timesAgain(ownerId));
      await published.close();
      console.info(`${fault}, ${proxy.counts.get(fault)} times; delivered again: ${again.join(', ')}`);
      expectKept(kept);
    },
    240_000,
  );
});
