import type { SeenChange } from '../clients/subscriber.ts';

/** A write that the product confirmed. */
export type Acknowledged =
  { kind: 'INSERT' | 'UPDATE'; taskId: string; title: string } | { kind: 'DELETE'; taskId: string };

/** What happened to one account, as its writer, its subscriber and its list tell it. */
export interface History {
  owner: string;
  acknowledged: Acknowledged[];
  changes: SeenChange[];
  /** The final list: id to title. */
  tasks: Map<string, string>;
}

/**
 * Compares what was acknowledged with what the feed told. Returns every contradiction as a sentence; none means: nothing
 * lost, nothing twice, nothing out of order, nothing of somebody else, and the feed replayed gives exactly the list.
 */
export function contradictions({ owner, acknowledged, changes, tasks }: History): string[] {
  return [...sequenceProblems(changes), ...lostWrites(acknowledged, changes), ...replayProblems(changes, tasks)].map(
    (problem) => `${owner}: ${problem}`,
  );
}

function sequenceProblems(changes: SeenChange[]): string[] {
  return changes.flatMap(({ sequence }, index) =>
    sequence === index + 1 ? [] : [`change ${index + 1} has the sequence ${sequence}`],
  );
}

/** Every confirmed write is one change; a writer works one after the other, so they come in the same order. */
function lostWrites(acknowledged: Acknowledged[], changes: SeenChange[]): string[] {
  const problems: string[] = [];
  let next = 0;
  for (const write of acknowledged) {
    const found = changes.findIndex((change, index) => index >= next && isChangeOf(change, write));
    if (found < 0)
      problems.push(`the ${write.kind} of ${write.taskId} was confirmed and is not in the feed (in its place)`);
    else next = found + 1;
  }
  return problems;
}

function isChangeOf({ kind, task }: SeenChange, write: Acknowledged): boolean {
  return kind === write.kind && task.id === write.taskId && (write.kind === 'DELETE' || task.title === write.title);
}

function replayProblems(changes: SeenChange[], tasks: Map<string, string>): string[] {
  const replayed = new Map<string, { title: string; version: number }>();
  const problems: string[] = [];
  for (const { kind, task, previous, sequence } of changes) {
    const known = replayed.get(task.id);
    if (kind === 'INSERT' ? known !== undefined : known?.version !== previous?.version)
      problems.push(`change ${sequence} (${kind}) does not fit what came before it`);
    if (kind === 'DELETE') replayed.delete(task.id);
    else replayed.set(task.id, { title: task.title, version: task.version });
  }
  for (const [id, { title }] of replayed)
    if (tasks.get(id) !== title) problems.push(`the feed says that ${id} is "${title}", the list "${tasks.get(id)}"`);
  for (const id of tasks.keys()) if (!replayed.has(id)) problems.push(`${id} is in the list and not in the feed`);
  return problems;
}
