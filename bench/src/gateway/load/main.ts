import { quantile } from '../../figures.ts';
import type { LoadFigures } from '../../load/connections.ts';
import { answerCalls } from '../../processes/calls.ts';
import { openSenders, type Sender, type SendersOptions } from './senders.ts';

// A process of its own: what it takes to send requests is not part of what they cost.
let senders: Sender[] = [];

const calls = {
  /** Opens connections, and compares one answer on each with the right one. */
  async open(options: SendersOptions) {
    senders = await openSenders(options);
  },
  async run(seconds: number): Promise<LoadFigures> {
    const start = performance.now();
    const all = (await Promise.all(senders.map((sender) => sender.keepBusy(start + seconds * 1_000)))).flat();
    const took = (performance.now() - start) / 1_000;
    return { requests: all.length, seconds: took, p50Ms: quantile(all, 0.5), p99Ms: quantile(all, 0.99) };
  },
  async close() {
    await Promise.all(senders.map((sender) => sender.close()));
    senders = [];
  },
};
export type GatewayLoadCalls = typeof calls;
answerCalls(calls);
