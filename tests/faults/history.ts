import type { Reading, StreamedChange } from '../feed/streams/stream.ts';

/** A write that was sent. Titles are unique, so that a change can be matched to its write. */
export interface Write {
  kind: StreamedChange['kind'];
  title?: string;
  /** The id of the task; for a create, known once it is confirmed. */
  taskId?: string;
  /** `confirmed`: done. `denied`: not done. `unknown`: there was no definite response, so it may be either. */
  outcome: 'confirmed' | 'denied' | 'unknown';
  sentAt: number;
  /** Infinity without a response. */
  answeredAt: number;
  /** The API and the gateway, for reports. */
  via?: string;
}

/** The history of one account, as reported by its writers, its streams and its list. */
export interface History {
  owner: string;
  ownerId: string;
  writes: Write[];
  /** What each protocol delivered. */
  streams: ReadonlyMap<string, Reading>;
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
  const { owner, streams } = history;
  const known = new Set([...streams.values()].flatMap(({ changes }) => changes.map(identityOf)));
  return [...streams].flatMap(([protocol, reading]) =>
    ofReading(reading, known, history).map(({ fault, what }) => ({ fault, what: `${owner}, ${protocol}: ${what}` })),
  );
}

function ofReading(
  reading: Reading,
  known: ReadonlySet<string>,
  { ownerId, writes, tasks, endsEarly = false }: History,
): Contradiction[] {
  const { list, changes } = reading;
  const found = [...repeated(changes), ...strange(changes, ownerId, writes), ...disordered(reading, writes)];
  if (endsEarly) return found;
  const due = writes.filter(({ sentAt }) => sentAt > list.readAt);
  return [...found, ...lost(changes, due, known), ...unlikeList(reading, tasks)];
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
function disordered({ list, changes }: Reading, writes: Write[]): Contradiction[] {
  const made = writes
    .filter(({ outcome }) => outcome !== 'denied')
    .map((write) => [signatureOf(write), write] as const);
  const spans = new Map(made);
  const versions = new Map([...list.tasks].map(([id, { version }]) => [id, version]));
  const problems: string[] = [];
  let latestSent = -Infinity;
  for (const [index, change] of changes.entries()) {
    const { kind, sequence, task, previous } = change;
    if (sequence !== undefined && sequence !== 1 + index)
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
