import type { Reading, StreamedChange } from '../feed/streams/stream.ts';
import { epochOf, isDue, mayBeListOf, mayBeOf, type Restore, type Write } from './write.ts';

/** The history of one account, as reported by its writers, its streams and its list. */
export interface History {
  owner: string;
  ownerId: string;
  writes: Write[];
  /** Readings by protocol. The first began before the first write; another begins whenever the list is read again. */
  streams: ReadonlyMap<string, Reading[]>;
  /** The restores. Each began a new epoch, in which only later writes must be delivered. @default [] */
  restores?: Restore[];
  /** Whether the account was deleted: its streams then end with its sessions, without the last changes. @default false */
  endsEarly?: boolean;
  /** The final list, as titles by id. */
  tasks: ReadonlyMap<string, string>;
}

export type Fault = 'lost' | 'duplicated' | 'reordered' | 'foreign' | 'different list';

/** A promise that was not kept. */
export interface Contradiction {
  fault: Fault;
  what: string;
}

/**
 * Compares what was sent and confirmed with what every stream delivered. No contradictions means: no change was lost, repeated,
 * reordered, made up or another owner's, and replaying each stream gives exactly the list.
 */
export function contradictions(history: History): Contradiction[] {
  const { owner, streams, restores = [] } = history;
  const present = [...streams.values()].flatMap((readings) =>
    readings.filter(({ list }) => epochOf(list, restores) === restores.length).flatMap(({ changes }) => changes),
  );
  const ofReadings = (readings: Reading[]) => readings.flatMap((reading) => ofReading(reading, present, history));
  return [...streams].flatMap(([protocol, readings]) =>
    [...undelivered(readings, restores), ...ofReadings(readings)].map(({ fault, what }) => {
      return { fault, what: `${owner}, ${protocol}: ${what}` };
    }),
  );
}

/** The last changes of an epoch that a restore ended may never be delivered, so only delivered changes are checked there. */
function ofReading(
  reading: Reading,
  present: StreamedChange[],
  { ownerId, writes, tasks, restores = [], endsEarly = false }: History,
): Contradiction[] {
  const { list, changes } = reading;
  const epoch = epochOf(list, restores);
  const possible = writes.filter((write) => mayBeOf(write, epoch, restores));
  const found = [...repeated(changes), ...strange(changes, ownerId, possible), ...disordered(reading, epoch, possible)];
  if (endsEarly || epoch < restores.length) return found;
  const due = possible.filter((write) => isDue(write, list, restores));
  return [...found, ...lost(changes, due, knownBehind(reading, epoch, present)), ...unlikeList(reading, tasks)];
}

/** Reports restores after which a reader did not read the list again: it still shows the replaced store. */
function undelivered(readings: Reading[], restores: Restore[]): Contradiction[] {
  const readAt = readings.map(({ list }) => Math.round(list.readAt)).join(', ');
  const isKnown = (index: number) => readings.some(({ list }) => mayBeListOf(list, index + 1, restores));
  return restores.flatMap(({ answeredAt }, index) => {
    const what = `the end of the feed by restore ${index + 1}, answered at ${Math.round(answeredAt)}; lists read at ${readAt}`;
    return isKnown(index) ? [] : [{ fault: 'lost', what }];
  });
}

/** Identifies a change: each version of a task is made once. */
const identityOf = ({ kind, task }: StreamedChange) => `${kind} of ${task.id} version ${task.version}`;

function repeated(changes: StreamedChange[]): Contradiction[] {
  const seen = new Set<string>();
  return changes.flatMap((change) => {
    const identity = identityOf(change);
    if (seen.has(identity)) return [{ fault: 'duplicated', what: `${identity} came again` }];
    seen.add(identity);
    return [];
  });
}

/** Reports changes of other owners, and changes without a write. */
function strange(changes: StreamedChange[], ownerId: string, writes: Write[]): Contradiction[] {
  const sent = new Set(writes.filter(({ outcome }) => outcome !== 'denied').map(signatureOf));
  return changes.flatMap((change) => {
    if (change.task.ownerId !== ownerId || (change.previous && change.previous.ownerId !== ownerId))
      return [{ fault: 'foreign', what: `${identityOf(change)} is of ${change.task.ownerId}` }];
    if (!sent.has(signatureOf(asWrite(change))))
      return [{ fault: 'foreign', what: `${identityOf(change)} ("${change.task.title}") has no author` }];
    return [];
  });
}

/** Returns what any stream delivered after the start of this reading. After a restore, that is after its first change. */
function knownBehind({ changes: [first] }: Reading, epoch: number, present: StreamedChange[]): Set<string> {
  if (epoch === 0) return new Set(present.map(identityOf));
  const numbers = new Map<string, number>();
  for (const change of present) if (change.sequence !== undefined) numbers.set(identityOf(change), change.sequence);
  const place = first && numbers.get(identityOf(first));
  const behind = [...numbers].filter(([, number]) => place !== undefined && number > place);
  return new Set(behind.map(([identity]) => identity));
}

function lost(changes: StreamedChange[], due: Write[], known: ReadonlySet<string>): Contradiction[] {
  const delivered = new Set(changes.map((change) => signatureOf(asWrite(change))));
  const seen = new Set(changes.map(identityOf));
  const unconfirmed = due.filter((write) => write.outcome === 'confirmed' && !delivered.has(signatureOf(write)));
  const elsewhere = [...known].filter((identity) => !seen.has(identity));
  return [
    ...unconfirmed.map((write) => `${signatureOf(write)} was confirmed${how(write)}`),
    ...elsewhere.map((identity) => `${identity} came in another stream`),
  ].map((what) => ({ fault: 'lost', what }));
}

/** Reports gaps in sequences and in versions of tasks, and changes that come before a write confirmed before they were sent. */
function disordered({ list, changes }: Reading, epoch: number, writes: Write[]): Contradiction[] {
  const spans = spansOf(writes);
  const versions = new Map([...list.tasks].map(([id, { version }]) => [id, version]));
  const first = epoch === 0 ? 1 : (changes[0]?.sequence ?? 1);
  const problems: string[] = [];
  let latestSent = -Infinity;
  for (const [index, change] of changes.entries()) {
    const { kind, sequence, task, previous } = change;
    if (sequence !== undefined && sequence !== first + index)
      problems.push(`change ${index + 1} has the sequence ${sequence}`);
    const before = versions.get(task.id);
    const fits = kind === 'INSERT' ? before === undefined : before !== undefined && before === previous?.version;
    const version = kind === 'INSERT' ? 1 : kind === 'UPDATE' ? (before ?? 0) + 1 : before;
    if (!fits || task.version !== version) problems.push(`${identityOf(change)} does not fit version ${before}`);
    if (kind === 'DELETE') versions.delete(task.id);
    else versions.set(task.id, task.version);
    const span = spans.get(signatureOf(asWrite(change)));
    if (!span) continue;
    if (span.answeredAt < latestSent)
      problems.push(`${identityOf(change)} comes behind what was sent after it had been confirmed`);
    latestSent = Math.max(latestSent, span.sentAt);
  }
  return problems.map((what) => ({ fault: 'reordered', what }));
}

/** Returns the earliest and latest time of each change. A task that a restore brought back may be deleted twice. */
function spansOf(writes: Write[]): Map<string, Pick<Write, 'sentAt' | 'answeredAt'>> {
  const made = writes.filter(({ outcome }) => outcome !== 'denied');
  const span = (same: Write[]) => ({
    sentAt: Math.min(...same.map(({ sentAt }) => sentAt)),
    answeredAt: Math.max(...same.map(({ answeredAt }) => answeredAt)),
  });
  return new Map([...Map.groupBy(made, signatureOf)].map(([signature, same]) => [signature, span(same)]));
}

function unlikeList({ list, changes }: Reading, tasks: ReadonlyMap<string, string>): Contradiction[] {
  const replayed = new Map([...list.tasks].map(([id, { title }]) => [id, title]));
  for (const { kind, task } of changes) {
    if (kind === 'DELETE') replayed.delete(task.id);
    else replayed.set(task.id, task.title);
  }
  const ids = new Set([...replayed.keys(), ...tasks.keys()]);
  const different = [...ids].filter((id) => replayed.get(id) !== tasks.get(id));
  const what = (id: string) => `${id} is "${replayed.get(id)}" by the feed, "${tasks.get(id)}" in the list`;
  return different.map((id) => ({ fault: 'different list', what: what(id) }));
}

const how = ({ via, sentAt, answeredAt }: Write) =>
  via === undefined ? '' : ` over ${via}, sent at ${Math.round(sentAt)}, answered at ${Math.round(answeredAt)}`;

/** Returns the same text for a write and its change. */
function signatureOf({ kind, title, taskId }: Pick<Write, 'kind' | 'title' | 'taskId'>): string {
  if (kind === 'INSERT') return `the INSERT of "${title}"`;
  return kind === 'UPDATE' ? `the UPDATE of ${taskId} to "${title}"` : `the DELETE of ${taskId}`;
}

function asWrite({ kind, task }: StreamedChange): Pick<Write, 'kind' | 'title' | 'taskId'> {
  return { kind, title: task.title, taskId: task.id };
}
