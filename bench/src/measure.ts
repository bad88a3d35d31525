import { cpuMsOfTrees } from './cpu/process-tree.ts';
import { summarise, type Measured, type Round } from './figures.ts';
import type { Load } from './load/start-load.ts';
import { OPERATIONS, SPOKEN, type Cell, type Operation } from './operations.ts';
import type { Role, Target } from './targets/target.ts';

export interface MeasureOptions {
  targets: readonly Target[];
  operations: readonly Operation[];
  load: Load;
  rounds: number;
  /** Of one round of one cell. */
  seconds: number;
  warmUpSeconds: number;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** Gives every target its accounts and tasks. */
export async function populateTargets(options: {
  targets: readonly Pick<Target, 'name' | 'url'>[];
  load: Load;
  connections: number;
  signal: AbortSignal;
  log: (line: string) => void;
}): Promise<void> {
  const { targets, load, connections, signal, log } = options;
  for (const { name, url } of targets) {
    log(`Accounts and tasks for ${name} …`);
    await load.populate(name, url, connections);
    signal.throwIfAborted();
  }
}

/** Measures each operation at each target over each protocol it speaks, in rounds that take turns. They are populated. */
export async function measure(options: MeasureOptions): Promise<Measured[]> {
  const { log } = options;
  const measured: Measured[] = [];
  for (const operation of OPERATIONS.filter((name) => options.operations.includes(name))) {
    log(`${operation} …`);
    measured.push(...(await measureOperation(operation, options)));
  }
  return measured;
}

/** How many cells a round of everything has. */
export function cellsOf(operation: Operation, targets: readonly Pick<Target, 'name'>[]): Cell[] {
  return targets.flatMap(({ name }) => SPOKEN[name].map((protocol) => ({ target: name, operation, protocol })));
}

async function measureOperation(operation: Operation, options: MeasureOptions): Promise<Measured[]> {
  const { targets, load, rounds, seconds, warmUpSeconds, signal } = options;
  const byName = new Map(targets.map((target) => [target.name, target]));
  const cells = cellsOf(operation, targets).map((cell) => ({ cell, results: new Array<Round>() }));

  const one = async (cell: Cell, forSeconds: number): Promise<Round> => {
    const target = byName.get(cell.target);
    if (!target) throw new Error(`${cell.target} does not run.`);
    signal.throwIfAborted();
    return runRound({ cell, target, load, seconds: forSeconds });
  };
  for (const { cell } of cells) await one(cell, warmUpSeconds);
  for (let round = 0; round < rounds; round++) {
    // Another one begins each time, so that none always follows the same neighbour.
    for (const { cell, results } of rotated(cells, round)) results.push(await one(cell, seconds));
  }
  return cells.map(({ cell, results }) => summarise(cell, results));
}

function rotated<Item>(items: readonly Item[], by: number): Item[] {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

async function runRound(options: { cell: Cell; target: Target; load: Load; seconds: number }): Promise<Round> {
  const { cell, target, load, seconds } = options;
  const pids = target.parts.map(({ pid }) => pid);
  await load.open(cell);
  await target.settle();
  const before = cpuMsOfTrees(pids);
  const figures = await load.run(seconds);
  await target.settle();
  const after = cpuMsOfTrees(pids);
  await load.close();

  const cpuByPart: Record<string, number> = {};
  const cpuByRole: Record<Role, number> = { server: 0, postgres: 0, redis: 0, kafka: 0 };
  target.parts.forEach(({ name, role }, index) => {
    const perRequest = ((after[index] ?? 0) - (before[index] ?? 0)) / figures.requests;
    cpuByPart[name] = perRequest;
    cpuByRole[role] += perRequest;
  });
  return { ...figures, cpuByPart, cpuByRole };
}
