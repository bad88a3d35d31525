import type { StreamedChange } from '../clients/streams/stream.ts';

/** A write that was sent. Titles are unique, so that a change tells whose doing it is. */
export interface Write {
  kind: StreamedChange['kind'];
  title?: string;
  /** Of a create: known once it is confirmed. */
  taskId?: string;
  /** `confirmed`: it is done. `denied`: it is not. `unknown`: nobody told, so it may be either. */
  outcome: 'confirmed' | 'denied' | 'unknown';
  sentAt: number;
  /** Infinity when nobody answered. */
  answeredAt: number;
}

/** What happened to one account, as its writers, its streams and its list tell it. */
export interface History {
  owner: string;
  ownerId: string;
  writes: Write[];
  /** By protocol; each began before the first write. */
  streams: ReadonlyMap<string, StreamedChange[]>;
  /** The final list: id to title. */
  tasks: ReadonlyMap<string, string>;
}

export type Fault = 'lost' | 'duplicated' | 'reordered' | 'foreign' | 'different list';

/** A promise that was not kept. */
export interface Contradiction {
  fault: Fault;
  what: string;
}

/**
 * Compares what was sent and confirmed with what every stream told. None means: nothing lost, nothing twice, nothing out
 * of order, nothing that is not the owner's or that nobody wrote, and each stream replayed gives exactly the list.
 */
export function contradictions({ owner, ownerId, writes, streams, tasks }: History): Contradiction[] {
  const known = new Set([...streams.values()].flat().map(identityOf));
  return [...streams].flatMap(([protocol, changes]) =>
    [
      ...repeated(changes),
      ...strange(changes, ownerId, writes),
      ...lost(changes, writes, known),
      ...disordered(changes, writes),
      ...unlikeList(changes, tasks),
    ].map(({ fault, what }) => ({ fault, what: `${owner}, ${protocol}: ${what}` })),
  );
}

/** A version of a task comes about once. */
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

/** Changes of somebody else, and such that nobody made. */
function strange(changes: StreamedChange[], ownerId: string, writes: Write[]): Contradiction[] {
  const sent = new Set(writes.filter(({ outcome }) => outcome !== 'denied').map(signatureOf));
  return changes.flatMap((change) => {
    if (change.task.ownerId !== ownerId || (change.previous && change.previous.ownerId !== ownerId))
      return [{ fault: 'foreign', what: `${identityOf(change)} is of ${change.task.ownerId}` }];
    if (!sent.has(signatureOf(asWrite(change))))
      return [{ fault: 'foreign', what: `${identityOf(change)} ("${change.task.title}") is nobody’s doing` }];
    return [];
  });
}

function lost(changes: StreamedChange[], writes: Write[], known: ReadonlySet<string>): Contradiction[] {
  const told = new Set(changes.map((change) => signatureOf(asWrite(change))));
  const seen = new Set(changes.map(identityOf));
  const unconfirmed = writes.filter((write) => write.outcome === 'confirmed' && !told.has(signatureOf(write)));
  const elsewhere = [...known].filter((identity) => !seen.has(identity));
  return [
    ...unconfirmed.map((write) => ({ fault: 'lost' as const, what: `${signatureOf(write)} was confirmed` })),
    ...elsewhere.map((identity) => ({ fault: 'lost' as const, what: `${identity} came in another stream` })),
  ];
}

/** Numbers without a gap; each task's versions one after the other; and nothing before what was confirmed before it was sent. */
function disordered(changes: StreamedChange[], writes: Write[]): Contradiction[] {
  const bySignature = new Map<string, Write>();
  for (const write of writes) {
    const earlier = bySignature.get(signatureOf(write));
    if (earlier?.outcome !== 'confirmed') bySignature.set(signatureOf(write), write);
  }
  const versions = new Map<string, number>();
  const problems: string[] = [];
  let latestSent = -Infinity;
  for (const [index, change] of changes.entries()) {
    const { kind, sequence, task, previous } = change;
    if (sequence !== undefined && sequence !== index + 1)
      problems.push(`change ${index + 1} has the sequence ${sequence}`);
    const before = versions.get(task.id);
    const fits = kind === 'INSERT' ? before === undefined : before !== undefined && before === previous?.version;
    const version = kind === 'INSERT' ? 1 : kind === 'UPDATE' ? (before ?? 0) + 1 : before;
    if (!fits || task.version !== version) problems.push(`${identityOf(change)} does not fit version ${before}`);
    if (kind === 'DELETE') versions.delete(task.id);
    else versions.set(task.id, task.version);
    const write = bySignature.get(signatureOf(asWrite(change)));
    if (!write) continue;
    if (write.outcome === 'confirmed' && write.answeredAt < latestSent)
      problems.push(`${identityOf(change)} comes behind what was sent after it had been confirmed`);
    latestSent = Math.max(latestSent, write.sentAt);
  }
  return problems.map((what) => ({ fault: 'reordered', what }));
}

function unlikeList(changes: StreamedChange[], tasks: ReadonlyMap<string, string>): Contradiction[] {
  const replayed = new Map<string, string>();
  for (const { kind, task } of changes) {
    if (kind === 'DELETE') replayed.delete(task.id);
    else replayed.set(task.id, task.title);
  }
  const ids = new Set([...replayed.keys(), ...tasks.keys()]);
  return [...ids].flatMap((id) =>
    replayed.get(id) === tasks.get(id)
      ? []
      : [
          {
            fault: 'different list',
            what: `${id} is "${replayed.get(id)}" by the feed, "${tasks.get(id)}" in the list`,
          },
        ],
  );
}

/** What a write and its change have in common. */
function signatureOf({ kind, title, taskId }: Pick<Write, 'kind' | 'title' | 'taskId'>): string {
  if (kind === 'INSERT') return `the INSERT of "${title}"`;
  return kind === 'UPDATE' ? `the UPDATE of ${taskId} to "${title}"` : `the DELETE of ${taskId}`;
}

function asWrite({ kind, task }: StreamedChange): Pick<Write, 'kind' | 'title' | 'taskId'> {
  return { kind, title: task.title, taskId: task.id };
}
