import { createRandom } from '@taskmesh/testing';
import { CALLS, type Fault } from './faults.ts';

/** An event and its time in milliseconds. Owners and readers are given by number. */
export type Step = { at: number } & (
  | { what: 'write'; owner: number; count: number }
  | { what: 'restore' }
  | { what: 'forget'; owner: number; kept: number }
  | { what: 'fault'; fault: Fault }
  | { what: 'cut'; reader: number; awayMs: number }
  | { what: 'stall'; reader: number; ms: number }
  | { what: 'nonsense'; reader: number }
  /** This and the next two are for channels only: see `ChannelReader`. */
  | { what: 'token'; reader: number; owner: number; lifeMs: number }
  | { what: 'fade'; reader: number; owner: number; freshAfterMs: number; otherAfterMs: number | undefined }
  | { what: 'rejoin'; reader: number; isLate: boolean }
  /** An account is deleted. */
  | { what: 'delete'; owner: number }
  /** An instance that deletes accounts dies, and another one starts after `awayMs`. */
  | { what: 'crash'; instance: number; awayMs: number }
  /** The account log begins a new epoch. */
  | { what: 'new log' }
  /** The event log refuses records for this time. */
  | { what: 'away'; ms: number }
);

export interface Schedule {
  seed: number;
  /** Both streams have the same owner, and need another service for a part of each event. */
  isNested: boolean;
  steps: Step[];
}

export const OWNERS = 2;
/** Numbers of initial tasks of further owners, which have no readers. */
export const UNREAD = [0, 3, 450];
export const INSTANCES = 2;
/** Two streams, followed by two channels. */
const READERS = 4;
const FIRST_CHANNEL = 2;
const NESTED_EVERY = 10;
const HOUR_MS = 3_600_000;
/** The time in which events are scheduled. */
export const TROUBLE_MS = 8_000;

/** Delays close to the intervals of the feed, and far beyond them, find most errors. */
const DELAYS_MS = [1, 20, 150, 600, 2_500, 4_000];

/** Creates a random schedule, with about as much trouble as a bad month. */
export function createSchedule(seed: number): Schedule {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item; // never empty
  const fault = (): Fault => {
    const owner = below(OWNERS);
    const call = oneOf(CALLS);
    const ms = oneOf(DELAYS_MS);
    return oneOf<Fault>([
      { kind: 'late question', call, ms },
      { kind: 'late answer', call, ms },
      { kind: 'late answer', call, ms },
      { kind: 'lost', call, ms },
      { kind: 'drop', owner },
      { kind: 'hold', owner, ms },
      { kind: 'repeat', owner, ms },
      { kind: 'garble', owner },
    ]);
  };
  let last = 0;
  const step = (): Step => {
    // Some events come within a round trip of each other.
    const at = Math.min(random() < 0.4 ? last + below(12) : below(TROUBLE_MS), TROUBLE_MS - 1);
    last = at;
    const dice = random();
    if (dice < 0.35) return { at, what: 'write', owner: below(OWNERS), count: oneOf([1, 1, 2, 3, 40]) };
    if (dice < 0.65) return { at, what: 'fault', fault: fault() };
    if (dice < 0.7) return { at, what: 'restore' };
    if (dice < 0.73) return { at, what: 'forget', owner: below(OWNERS), kept: oneOf([0, 1, 3]) };
    if (dice < 0.86) return { at, what: 'cut', reader: below(READERS), awayMs: oneOf(DELAYS_MS) };
    if (dice < 0.9) return { at, what: 'stall', reader: below(READERS), ms: oneOf(DELAYS_MS) };
    if (dice < 0.92) return { at, what: 'nonsense', reader: below(READERS) };
    const reader = FIRST_CHANNEL + below(READERS - FIRST_CHANNEL);
    if (dice < 0.95) return { at, what: 'token', reader, owner: below(OWNERS), lifeMs: oneOf([HOUR_MS, 700, 1_300]) };
    if (dice < 0.98) {
      const otherAfterMs = oneOf([undefined, 1, 5, 150]);
      return { at, what: 'fade', reader, owner: below(OWNERS), freshAfterMs: oneOf(DELAYS_MS), otherAfterMs };
    }
    return { at, what: 'rejoin', reader, isLate: random() < 0.5 };
  };
  const steps = Array.from({ length: 10 + below(30) }, step);
  const several = (limit: number, make: () => Step) => Array.from({ length: below(limit) }, make);
  /** A deletion with writes up to the last moment, and crashes of the instances that delete. */
  const deletion = (): Step[] => {
    const soon = (ms: number) => Math.min(at + below(ms), TROUBLE_MS - 1);
    const at = below(TROUBLE_MS);
    const owner = random() < 0.25 ? below(OWNERS) : OWNERS + below(UNREAD.length);
    return [
      { at, what: 'delete', owner },
      ...several(5, () => ({ at: soon(40), what: 'write', owner, count: oneOf([1, 1, 5]) })),
      ...several(3, () => ({ at: soon(400), what: 'crash', instance: below(INSTANCES), awayMs: oneOf(DELAYS_MS) })),
      ...(random() < 0.4 ? [{ at: soon(100), what: 'away', ms: oneOf(DELAYS_MS) } as const] : []),
      ...(random() < 0.1 ? [{ at: soon(3_000), what: 'new log' } as const] : []),
    ];
  };
  steps.push(...Array.from({ length: oneOf([0, 0, 1, 2, 4]) }, deletion).flat());
  // Nested events are expensive, so only a few worlds have them.
  return { seed, isNested: seed % NESTED_EVERY === 0, steps: steps.sort((one, other) => one.at - other.at) };
}

/** Returns a minimal schedule that still fails, found by leaving out one event at a time. */
export async function shortest(schedule: Schedule, fails: (schedule: Schedule) => Promise<boolean>): Promise<Schedule> {
  let best = schedule;
  let size = Math.ceil(best.steps.length / 2);
  while (size > 0) {
    const before = best.steps.length;
    for (let start = 0; start < best.steps.length;) {
      const steps = best.steps.toSpliced(start, size);
      if (await fails({ ...best, steps })) best = { ...best, steps };
      else start += size;
    }
    const isDone = size === 1 && best.steps.length === before;
    size = isDone ? 0 : Math.ceil(size / 2);
  }
  return best;
}
