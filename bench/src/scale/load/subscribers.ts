import { setTimeout as sleep } from 'node:timers/promises';
import { openListeners, type ListenerOptions } from '../../feed/load/listeners.ts';

const ARRIVAL_MS = 30_000;

export type Subscribers = Awaited<ReturnType<typeof openSubscribers>>;

/** Sockets over graphql-ws at one or more gateways; every message that they should get is counted. */
export async function openSubscribers(groups: Omit<ListenerOptions, 'speech'>[]) {
  const all = await Promise.all(groups.map((group) => openListeners({ ...group, speech: 'graphql-ws' })));
  return {
    /** @throws when not exactly so many messages come of what is done, each once and in order */
    async expect(messages: number, work: () => Promise<unknown>) {
      const recordings = all.map((listeners) => listeners.record());
      const count = () => recordings.reduce((sum, { numbers }) => sum + numbers.length, 0);
      await work();
      for (const deadline = performance.now() + ARRIVAL_MS; count() < messages; await sleep(20)) {
        for (const { check } of recordings) check();
        if (performance.now() > deadline) throw new Error(`${count()} of ${messages} messages arrived.`);
      }
      for (const { check } of recordings) check();
      if (count() !== messages) throw new Error(`${count()} messages arrived, and there should be ${messages}.`);
    },
    close: () => Promise.all(all.map((listeners) => listeners.close())),
  };
}
