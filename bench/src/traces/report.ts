import { sumOf } from '../figures.ts';
import { describeOrigin, type Origin } from '../report/machine.ts';
import { table } from '../report/table.ts';
import type { TracesOptions } from './options.ts';
import type { Pair, TracesMeasured } from './run-traces-bench.ts';

export interface TracesReport extends Origin {
  parameters: Pick<TracesOptions, 'pairs' | 'seconds' | 'warmUpSeconds' | 'connections'>;
  measured: TracesMeasured[];
  /** How many exports the collector got. */
  exports: number;
}

/** With a larger standard error the figure cannot be told from the aim, unless it is far from it. */
const TOO_NOISY = 0.005;
const FAR = 10;

export function describeTraces(report: TracesReport): Record<string, string> {
  const { parameters, measured, exports } = report;
  const { pairs, seconds, warmUpSeconds, connections } = parameters;
  const how = `${connections} connections · ${pairs} pairs of ${seconds} s, after ${warmUpSeconds} s to warm up · mean of the middle three fifths ± standard error · ${exports} exports`;
  const costs = measured.map((each) => ({ ...each, ...costOf(each.pairs) }));
  const figures = table(costs, {
    words: [['operation', ({ operation }) => operation]],
    figures: [
      ['recorded', ({ share }) => `${share * 100} %`],
      ['CPU-ms without', ({ without }) => without],
      ['costs', ({ part, error }) => `${percent(part)} ± ${percent(error)} %`],
      ['each recorded, ms', ({ without, part, share }) => (without * part) / share],
    ],
  });
  const noisy = costs.some(({ error, part }) => error > Math.max(TOO_NOISY, part / FAR))
    ? [`Too noisy to tell: a standard error is above ${percent(TOO_NOISY)} %. Take more pairs.`]
    : [];
  return { traces: [describeOrigin(report, how), figures, ...noisy].join('\n\n') };
}

const percent = (part: number) => (part * 100).toFixed(1);

/** What recording adds, as a part of what a request costs without, with its standard error over the pairs. */
function costOf(pairs: readonly Pair[]) {
  const { mean, error } = trimmedMean(pairs.map((pair) => Math.log(pair.with / pair.without)));
  return { without: trimmedMean(pairs.map((pair) => pair.without)).mean, part: Math.expm1(mean), error };
}

/** Of each end, a fifth does not count: slices in which somebody else had the machine. */
const TRIMMED = 0.2;

/** The mean of what is in the middle, with its standard error: that of all values, those at the ends moved to the middle's edges. */
function trimmedMean(values: readonly number[]) {
  const count = values.length;
  const cut = Math.floor(count * TRIMMED);
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.slice(cut, count - cut);
  const moved = [...Array(cut).fill(middle[0]), ...middle, ...Array(cut).fill(middle.at(-1))] as number[];
  const mean = meanOf(moved);
  const deviation = Math.sqrt(sumOf(moved.map((value) => (value - mean) ** 2)) / (count - 1));
  return { mean: meanOf(middle), error: (deviation * Math.sqrt(count)) / middle.length };
}

const meanOf = (values: readonly number[]) => sumOf(values) / values.length;
