import { answerCalls } from '../../processes/calls.ts';
import { openFeedLoad, type FeedLoad, type FeedLoadOptions, type StretchOrder } from './feed-load.ts';

// A process of its own: what it takes to make changes and to read them is not part of what delivery costs.
let load: FeedLoad | undefined;

const calls = {
  /** Opens the sockets of a cell. */
  async open(options: FeedLoadOptions) {
    load = await openFeedLoad(options);
  },
  async run(order: StretchOrder) {
    if (!load) throw new Error('No socket is open.');
    return load.run(order);
  },
  async close() {
    await load?.close();
    load = undefined;
  },
};
export type FeedLoadCalls = typeof calls;
answerCalls(calls);
