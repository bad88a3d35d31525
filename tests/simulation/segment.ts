import type { FeedPosition } from '@taskmesh/internal-api';
import { EMPTY_LIST, type StreamedChange } from '../feed/streams/stream.ts';
import { contradictions, type Contradiction } from '../faults/history.ts';
import { asWrite, listAfter, type Committed, type Store } from './store.ts';

export type Received = Omit<StreamedChange, 'seenAt'>;

/**
 * The start of a subscription: after a cursor, or "from now". That is a position in this epoch or an earlier one, and not before
 * the head of the owner's log (`notBefore`) when the subscription was requested.
 */
export type Beginning = FeedPosition | { epoch: number; from: 'now'; notBefore?: FeedPosition };

/** The changes that one subscription delivered. The rules of a complete history apply to them. */
export interface Segment {
  owner: string;
  beginning: Beginning;
  received: Received[];
}

const identityOf = ({ kind, task }: Received) => `${kind} ${task.id} ${task.version}`;

function epochOf(store: Store, change: Received | undefined, latest: number): number {
  const isOf = (epoch: number) =>
    change !== undefined &&
    store.logOf(change.task.ownerId, epoch).some((each) => identityOf(each) === identityOf(change));
  for (let epoch = Math.min(latest, store.epoch()); epoch > 0; epoch--) if (isOf(epoch)) return epoch;
  return Math.min(latest, store.epoch());
}

/** Checks a segment. `isLive`: its client was not notified of an end, so it must have received everything by now. */
export function findContradictions(
  store: Store,
  name: string,
  { owner, beginning, received }: Segment,
  isLive: boolean,
): Contradiction[] {
  const epoch = 'from' in beginning ? epochOf(store, received[0], beginning.epoch) : beginning.epoch;
  if (isLive && epoch !== store.epoch())
    return [{ fault: 'lost', what: `${name} never heard that epoch ${epoch} is over` }];
  if (isLive && 'from' in beginning && received.length === 0)
    return store.current().closed.has(owner) ? [] : [{ fault: 'lost', what: `${name} receives nothing at all` }];
  const log = store.logOf(owner, epoch);
  const places = new Map(log.map((change) => [identityOf(change), change.sequence]));
  const placeOf = (change: Received | undefined) => (change && places.get(identityOf(change))) ?? 0;
  const { notBefore } = 'from' in beginning ? beginning : {};
  const least = notBefore?.epoch === epoch ? notBefore.sequence : 0;
  const start = 'from' in beginning ? Math.max(least, placeOf(received[0]) - 1) : beginning.sequence;
  const lastReceived = Math.max(start, ...received.map(placeOf));
  const promised: Committed[] = log.slice(0, isLive ? log.length : lastReceived);
  const tasks = new Map([...listAfter(promised)].map(([id, { title }]) => [id, title]));
  const changes = [...log.slice(0, start), ...received].map((change) => ({ ...change, seenAt: 0 }));
  return contradictions({
    owner: name,
    ownerId: owner,
    writes: promised.map(asWrite),
    streams: new Map([[`epoch ${epoch} behind ${start}`, [{ list: EMPTY_LIST, changes }]]]),
    tasks,
  });
}
