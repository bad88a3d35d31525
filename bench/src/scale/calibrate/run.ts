import type { User } from '../../feed/users.ts';
import type { Population } from '../../load/population.ts';
import { attribute, type Amounts, type Costs, type Cpu, type Part, type Work } from '../model/work.ts';
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
  /** What one unit of a kind of work costs in some parts, of all that was done in a stretch besides standing there. */
  learn(kind: Work, parts: Part[], amounts: Amounts, taken: { seconds: number; cpu: Cpu }): void;
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
    learn(kind, parts, amounts, { seconds, cpu }) {
      this.costs = attribute(this.costs, { kind, parts, amounts: { ...standing(seconds), ...amounts } }, cpu);
    },
  };
}

/** What all processes do anyway, with one of each. */
export function standing(seconds: number): Amounts {
  return { servers: seconds, tasks: seconds, auth: seconds, gateway: seconds };
}
