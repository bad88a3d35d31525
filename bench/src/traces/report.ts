import type { Operation } from '../operations.ts';
import { sumOf } from '../figures.ts';
import { table } from '../report/table.ts';
import type { TracesOptions } from './options.ts';

/** CPU of each platform's process, all its threads, in milliseconds per request. */
export interface TracesStart {
  operation: Operation;
  without: number;
  with: number;
}

interface TracesReport {
  parameters: Omit<TracesOptions, 'quick' | 'name' | 'help' | 'connections'>;
  measured: TracesStart[];
  /** How many exports the collector got. */
  exports: number;
}

export function describeTraces({ parameters, measured, exports }: TracesReport): Record<string, string> {
  const { operations, ratio, starts, warmUpSeconds, rounds, seconds } = parameters;
  const rows = operations.map((operation) => {
    const pairs = measured.filter((start) => start.operation === operation);
    const { mean, error } = meanRatio(pairs.map((pair) => pair.with / pair.without));
    const [without, having] = [meanOf(pairs.map((pair) => pair.without)), meanOf(pairs.map((pair) => pair.with))];
    const cost = `${((mean - 1) * 100).toFixed(1)} ± ${(error * 100).toFixed(1)} %`;
    return [operation, without.toFixed(4), having.toFixed(4), cost];
  });
  const titles = ['without traces, CPU-ms', 'with', 'costs, ± standard error'];
  const how =
    `CPU of the platform's process per request over ${starts} pairs of starts; ${ratio * 100} % recorded,\n` +
    `${rounds} rounds of ${seconds} s behind ${warmUpSeconds} s of warm-up; ${exports} exports.`;
  const figures = table(rows, {
    words: [['operation', ([operation = '']) => operation]],
    figures: titles.map((title, index) => [title, (row) => row[index + 1] ?? '']),
  });
  return { traces: `${how}\n\n${figures}` };
}

/** The geometric mean, and its standard error as a part of it. */
function meanRatio(ratios: readonly number[]): { mean: number; error: number } {
  const logs = ratios.map(Math.log);
  const mean = meanOf(logs);
  const variance = sumOf(logs.map((value) => (value - mean) ** 2)) / (logs.length - 1);
  return { mean: Math.exp(mean), error: Math.sqrt(variance / logs.length) };
}

const meanOf = (values: readonly number[]) => sumOf(values) / values.length;
