import type { User } from '../../feed/users.ts';
import type { Population } from '../../load/population.ts';
import { attribute, type Cell } from '../model/attribute.ts';
import type { Amounts, Costs, Cpu } from '../model/work.ts';
import type { ScaleStack } from '../stack.ts';
import { stretch, type Stretch } from '../stretch.ts';

export interface CalibrateOptions {
  /** With one gateway. */
  stack: ScaleStack;
  population: Population;
  createUsers: (count: number) => Promise<User[]>;
  hookDir: string;
  seconds: number;
  sockets: number;
  backlog: number;
  signal: AbortSignal;
  log: (line: string) => void;
}

/** A calibration under way: what is known so far, and how to learn more. */
export interface Run extends CalibrateOptions {
  costs: Costs;
  measure(what: string, work: () => Promise<unknown>): Promise<Stretch>;
  learn(cell: Cell, measured: Cpu): void;
}

export function beginRun(options: CalibrateOptions): Run {
  const { stack, signal, log } = options;
  return {
    ...options,
    costs: {},
    async measure(what, work) {
      signal.throwIfAborted();
      log(`${what} …`);
      return stretch(stack, work);
    },
    learn(cell, measured) {
      this.costs = attribute(this.costs, cell, measured);
    },
  };
}

/** What all processes do anyway, with one of each. */
export function standing(seconds: number): Amounts {
  return { servers: seconds, tasks: seconds, auth: seconds, gateway: seconds };
}
