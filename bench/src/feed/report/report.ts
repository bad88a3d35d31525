import { machineLine } from '../../report/publish.ts';
import type { Machine } from '../../report/machine.ts';
import type { FeedMeasured } from '../figures.ts';
import type { FeedOptions } from '../options.ts';
import { feedTables } from './table.ts';

/** Everything a run found. */
export interface FeedReport {
  /** RFC 3339 */
  startedAt: string;
  machine: Machine;
  parameters: Pick<FeedOptions, 'sockets' | 'rounds' | 'seconds' | 'warmUpSeconds'>;
  /** CPU time that others took meanwhile, as a share of all cores: figures of a busy machine are to be taken again. */
  othersShare: number;
  measured: FeedMeasured[];
}

/** With more of the machine in others' hands, the figures say little. */
const BUSY = 0.05;

/** Where, when and how, and the tables. */
export function describeFeed({ startedAt, machine, parameters, othersShare, measured }: FeedReport): string {
  const { sockets, rounds, seconds, warmUpSeconds } = parameters;
  const busy = `Others took ${Math.round(othersShare * 100)} % of the machine meanwhile: to be taken again on a quiet one.`;
  return [
    [
      machineLine(startedAt, machine),
      `${sockets} sockets · median of ${rounds === 1 ? 'one round' : `${rounds} rounds`} of ${seconds} s, after ${warmUpSeconds} s to warm up · CPU in ms per delivered message`,
      ...(othersShare > BUSY ? [busy] : []),
    ].join('  \n'),
    feedTables(measured),
  ].join('\n\n');
}
