import type { TargetName } from '../operations.ts';

export const PROTOCOLS = ['graphql-ws', 'sse', 'multipart', 'channel'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** What a socket speaks; the bare server's sockets get the same text without any protocol around it. */
export type Speech = Protocol | 'bare';

/** Where changes begin: committed in the store, published to Kafka, or posted to the bare server. */
export type Source = 'commit' | 'kafka' | 'http';

export const LOADS = ['personal', 'fan-out'] as const;
export type LoadName = (typeof LOADS)[number];

export const RATES = ['usual', 'high'] as const;
export type Rate = (typeof RATES)[number];

/** How many sockets listen to one owner, and how many messages all sockets together get in a second. */
export const FEED_LOADS: Record<LoadName, { socketsPerOwner: number; messagesPerS: Record<Rate, number> }> = {
  personal: { socketsPerOwner: 1, messagesPerS: { usual: 500, high: 5_000 } },
  'fan-out': { socketsPerOwner: 100, messagesPerS: { usual: 5_000, high: 50_000 } },
};

/** The sockets of one row of stretches. */
export interface Cell {
  /** Who delivers: `bare` is a `ws` server with nothing else in it. */
  way: TargetName;
  speech: Speech;
  load: LoadName;
}

/** One stretch of changes for the sockets of a cell: a row of the tables. */
export interface Stretch {
  source: Source;
  rate: Rate;
}

/**
 * What is measured on a cell's sockets, in this order. Only the bare server takes changes that no store has: gateways
 * compare what they delivered with the store every two seconds, and end feeds that are ahead of it.
 */
export function stretchesOf({ way }: Cell, rates: readonly Rate[]): Stretch[] {
  const sources: Record<TargetName, Record<Rate, Source[]>> = {
    bare: { usual: ['http', 'kafka'], high: ['http', 'kafka'] },
    embedded: { usual: ['commit'], high: ['commit'] },
    separate: { usual: ['commit'], high: ['commit'] },
  };
  return rates.flatMap((rate) => sources[way][rate].map((source) => ({ source, rate })));
}

export function cellsOf(choice: {
  ways: readonly TargetName[];
  protocols: readonly Protocol[];
  load: LoadName;
}): Cell[] {
  const { ways, protocols, load } = choice;
  return ways.flatMap((way): Cell[] =>
    way === 'bare' ? [{ way, speech: 'bare', load }] : protocols.map((speech) => ({ way, speech, load })),
  );
}
