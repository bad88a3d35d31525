import type { Operation } from '../operations.ts';
import type { describeMachine } from '../report/machine.ts';
import type { TracesOptions } from './options.ts';

/** CPU of each platform's process, all its threads, in milliseconds per request. */
export interface TracesStart {
  operation: Operation;
  without: number;
  with: number;
}

export interface TracesReport {
  startedAt: string;
  machine: ReturnType<typeof describeMachine>;
  parameters: Omit<TracesOptions, 'name' | 'help'>;
  measured: TracesStart[];
  /** How many exports the collector got. */
  exports: number;
}

export function describeTraces({ parameters, measured, exports }: TracesReport): string {
  const { operations, ratio, starts, warmUpSeconds, rounds, seconds } = parameters;
  const rows = operations.map((operation) => {
    const pairs = measured.filter((start) => start.operation === operation);
    const { mean, error } = meanRatio(pairs.map((pair) => pair.with / pair.without));
    const [without, having] = [meanOf(pairs.map((pair) => pair.without)), meanOf(pairs.map((pair) => pair.with))];
    const cost = `${((mean - 1) * 100).toFixed(1)} ± ${(error * 100).toFixed(1)} %`;
    return `| ${[operation, without.toFixed(4), having.toFixed(4), cost].join(' | ')} |`;
  });
  return [
    `CPU of the platform's process per request over ${starts} pairs of starts; ${ratio * 100} % recorded,`,
    `${rounds} rounds of ${seconds} s behind ${warmUpSeconds} s of warm-up; ${exports} exports.`,
    '',
    '| operation | without traces, CPU-ms | with | costs, ± standard error |',
    '| --- | ---: | ---: | ---: |',
    ...rows,
  ].join('\n');
}

/** The geometric mean, and its standard error as a part of it. */
function meanRatio(ratios: readonly number[]): { mean: number; error: number } {
  const logs = ratios.map(Math.log);
  const mean = meanOf(logs);
  const variance = logs.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (logs.length - 1);
  return { mean: Math.exp(mean), error: Math.sqrt(variance / logs.length) };
}

const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
