import { measureCost, type Cost } from './cpu/measure-cost.ts';
import { sumOf, summarise } from './figures.ts';
import type { LoadFigures } from './load/connections.ts';
import type { Load } from './load/start-load.ts';
import { OPERATIONS, SPOKEN, type Cell, type Operation } from './operations.ts';
import type { Target } from './targets/target.ts';
import { measureByTurns, type Turns } from './turns.ts';

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

export interface MeasureOptions extends Turns {
  targets: readonly Target[];
  operations: readonly Operation[];
  load: Load;
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
  const { targets, load } = options;
  const taken = await measureByTurns(cellsOf(operation, targets), options, async ({ cell, target }, seconds) => {
    await load.open(cell);
    const found = await measureCost(
      target,
      () => load.run(seconds),
      ({ requests }) => requests,
    );
    await load.close();
    const { server, inner, postgres } = found.cpuByRole;
    return { ...found, perSecond: found.requests / found.seconds, cpuSum: server + inner + postgres };
  });
  return taken.map(([{ cell }, rounds]) => {
    const requests = sumOf(rounds.map((round) => round.requests));
    return { ...cell, ...summarise(rounds), requests };
  });
}
