import { runAll } from '../../load/connections.ts';
import { answerCalls } from '../../processes/calls.ts';
import { openSenders, type Sender, type SendersOptions } from './senders.ts';

// A process of its own: what it takes to send requests is not part of what they cost.
let senders: Sender[] = [];

const calls = {
  /** Opens connections, and compares one answer on each with the right one. */
  async open(options: SendersOptions) {
    senders = await openSenders(options);
  },
  run: (seconds: number) => runAll(senders, seconds),
  async close() {
    await Promise.all(senders.map((sender) => sender.close()));
    senders = [];
  },
};
export type GatewayLoadCalls = typeof calls;
answerCalls(calls);
