import type { Machine } from '../report/machine.ts';
import type { Coefficients } from './model/coefficients.ts';
import type { Demand } from './model/demand.ts';
import type { ScaleOptions } from './options.ts';
import type { Replay } from './replay.ts';

/** Everything a run found. */
export interface ScaleReport {
  /** RFC 3339 */
  startedAt: string;
  machine: Machine;
  parameters: Pick<ScaleOptions, 'seconds' | 'sockets' | 'backlog'>;
  /** Of the machine's cores, what went to anybody but this run. */
  othersShare: number;
  /** Of the mixed load. */
  demand: Demand;
  coefficients: Coefficients;
  replays: Replay[];
}
