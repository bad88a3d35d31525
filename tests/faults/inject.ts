import type { Stack } from '@taskmesh/local';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * What may happen to a process: a kill, a freeze, or a restart as by an operator. Kafka may also be killed and come back empty,
 * because nothing depends on its data.
 */
export type FaultKind = 'kill' | 'freeze' | 'restart' | 'wipe';

export interface PlannedFault {
  target: string;
  kind: FaultKind;
  /** The duration of a freeze. */
  forMs: number;
}

const KINDS: FaultKind[] = ['kill', 'freeze', 'restart'];
const WIPEABLE = 'kafka';
const FREEZE_MS = { least: 1_000, max: 8_000 };
const BACK_WITHIN_MS = 90_000;

/**
 * Yields an endless, reproducible list of faults: every kind on every target before any combination repeats.
 */
export function* planFaults(targets: string[], random: () => number): Generator<PlannedFault, never> {
  const combinations = targets.flatMap((target) =>
    [...KINDS, ...(target === WIPEABLE ? (['wipe'] as const) : [])].map((kind) => ({ target, kind })),
  );
  for (;;) {
    for (const combination of shuffled(combinations, random))
      yield { ...combination, forMs: Math.round(FREEZE_MS.least + random() * (FREEZE_MS.max - FREEZE_MS.least)) };
  }
}

export function shuffled<Item>(items: Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((a, b) => a.place - b.place)
    .map(({ item }) => item);
}

/** Injects a fault, and resolves when the process is working again. */
export async function inject(
  { stack, dataDir }: { stack: Stack; dataDir: string },
  { target, kind, forMs }: PlannedFault,
): Promise<void> {
  const process = stack.processes.get(target);
  if (!process) throw new Error(`There is no process ${target}.`);
  if (kind === 'freeze') return sleep(forMs, freeze(process.pid)).then((thaw) => thaw());
  if (kind === 'restart') return process.restart();
  process.kill('SIGKILL');
  await process.waitExit();
  // Without delay: the process restarts in a fraction of a second.
  if (kind === 'wipe') rmSync(join(dataDir, target), { recursive: true });
  const timer = new AbortController();
  const late = sleep(BACK_WITHIN_MS, undefined, { signal: timer.signal, ref: false }).then(() => {
    throw new Error(`${target} did not come back within ${BACK_WITHIN_MS / 1000} s.`);
  });
  late.catch(() => undefined);
  await Promise.race([process.waitReady(), late]);
  timer.abort();
}

/** Stops a process with its descendants, such as PostgreSQL's sessions. The returned function resumes them. */
export function freeze(pid: number): () => void {
  const pids = treeOf(pid);
  for (const each of pids) signal(each, 'SIGSTOP');
  return () => {
    for (const each of pids.toReversed()) signal(each, 'SIGCONT');
  };
}

/** A process and all its descendants, parents first. */
function treeOf(root: number): number[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
  const parents = lines.map((line) => line.trim().split(/\s+/).map(Number) as [pid: number, parent: number]); // the format requested above
  const tree = [root];
  for (const pid of tree) tree.push(...parents.filter(([, parent]) => parent === pid).map(([child]) => child));
  return tree;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended in the meantime.
  }
}
