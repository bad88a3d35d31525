import { measureCost, type Cost } from './cpu/measure-cost.ts';
import { sumOf, summarise } from './figures.ts';
import type { LoadFigures } from './load/connections.ts';
import type { Load } from './load/start-load.ts';
import { OPERATIONS, SPOKEN, type Cell, type Operation } from './operations.ts';
import type { Target } from './targets/target.ts';

/** One round of a cell. */
export interface Round extends LoadFigures, Cost {
  perSecond: number;
  /** Of our processes and PostgreSQL. */
  cpuSum: number;
}

/** The medians of a cell's rounds, and all their requests. */
export interface Measured extends Cell, Round {
  rounds: Round[];
}

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

/** Measures each operation at each target over each protocol it speaks, in rounds that take turns. They are populated. */
export async function measure(options: MeasureOptions): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const operation of OPERATIONS.filter((name) => options.operations.includes(name))) {
    options.log(`${operation} …`);
    measured.push(...(await measureOperation(operation, options)));
  }
  return measured;
}

/** An operation at each target over each protocol that it speaks. */
export function cellsOf(operation: Operation, targets: readonly Target[]): { cell: Cell; target: Target }[] {
  return targets.flatMap((target) =>
    SPOKEN[target.name].map((protocol) => ({ cell: { target: target.name, operation, protocol }, target })),
  );
}

async function measureOperation(operation: Operation, options: MeasureOptions): Promise<Measured[]> {
  const { targets, load, rounds, seconds, warmUpSeconds, signal } = options;
  const cells = cellsOf(operation, targets).map((one) => ({ ...one, results: new Array<Round>() }));
  const one = async ({ cell, target }: { cell: Cell; target: Target }, forSeconds: number): Promise<Round> => {
    signal.throwIfAborted();
    await load.open(cell);
    const found = await measureCost(
      target,
      () => load.run(forSeconds),
      ({ requests }) => requests,
    );
    await load.close();
    const { server, inner, postgres } = found.cpuByRole;
    return { ...found, perSecond: found.requests / found.seconds, cpuSum: server + inner + postgres };
  };
  for (const each of cells) await one(each, warmUpSeconds);
  for (let round = 0; round < rounds; round++) {
    // Another one begins each time, so that none always follows the same neighbour.
    const first = round % cells.length;
    for (const each of [...cells.slice(first), ...cells.slice(0, first)]) each.results.push(await one(each, seconds));
  }
  return cells.map(({ cell, results }) => {
    const requests = sumOf(results.map((round) => round.requests));
    return { ...cell, ...summarise(results), requests };
  });
}
