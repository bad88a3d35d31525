import type { Operation } from '../operations.ts';
import type { describeMachine } from '../report/machine.ts';
import type { TracesOptions } from './options.ts';

/** Medians of the rounds: CPU of a platform's process in milliseconds per request. */
interface Costs {
  /** No collector is set. */
  without: number;
  /** A collector is set, nothing is recorded. */
  idle: number;
  /** Records nothing before, and its part after. */
  recording: number;
}

export interface TracesStart {
  operation: Operation;
  before: Costs;
  /** `paused`: the process that records, in rounds between, in which it does not. */
  after: Costs & { paused: number };
}

export interface TracesReport {
  startedAt: string;
  machine: ReturnType<typeof describeMachine>;
  parameters: Omit<TracesOptions, 'name' | 'help'>;
  measured: TracesStart[];
  /** How many exports the collector got. */
  exports: number;
}

/** A ratio over several starts: their geometric mean, and its standard error as a part of it. */
interface MeanRatio {
  mean: number;
  error: number;
}

function meanRatio(ratios: readonly number[]): MeanRatio {
  const logs = ratios.map(Math.log);
  const mean = logs.reduce((sum, value) => sum + value, 0) / logs.length;
  const variance = logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (logs.length - 1);
  return { mean: Math.exp(mean), error: Math.sqrt(variance / logs.length) };
}

/** How many times as much a request costs because a part is recorded now: within one process, round by round. */
function costOfRecording({ after }: TracesStart): number {
  return after.recording / after.paused;
}

/** How many times as much a request that is not recorded costs once others have been: beside itself before, less what changed anyway. */
function costOfHavingRecorded({ before, after }: TracesStart): number {
  const others = Math.sqrt((after.without / before.without) * (after.idle / before.idle));
  return after.paused / before.recording / others;
}

/** How many times as much it costs with a collector that gets nothing: between processes, so it needs many starts. */
function costOfCollector({ before, after }: TracesStart): number {
  return Math.sqrt((before.idle / before.without) * (after.idle / after.without));
}

export function describeTraces({ parameters, measured, exports }: TracesReport): string {
  const { operations, ratio, starts, warmUpSeconds, rounds, seconds } = parameters;
  const percent = ({ mean, error }: MeanRatio) => `${((mean - 1) * 100).toFixed(1)} ± ${(error * 100).toFixed(1)} %`;
  const rows = operations.map((operation) => {
    const all = measured.filter((start) => start.operation === operation);
    const costs = [costOfCollector, costOfHavingRecorded, costOfRecording];
    return `| ${[operation, ...costs.map((cost) => percent(meanRatio(all.map(cost))))].join(' | ')} |`;
  });
  return [
    `CPU of the platform's process per request, over ${starts} starts: mean ± standard error. ${ratio * 100} % recorded,`,
    `${rounds} rounds of ${seconds} s before and after, each behind ${warmUpSeconds} s of warm-up; ${exports} exports.`,
    '',
    '| operation | a collector that gets nothing | having recorded | recording |',
    '| --- | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}
