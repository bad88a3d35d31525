import type { Metric, Registry } from 'prom-client';

/** Seconds; the aims are 10 ms (half of all) and 50 ms (all but one of a hundred). */
const BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Counts one series of a `LatencyHistogram`. */
export type Observe = (seconds: number) => void;

export interface LatencyHistogram<Label extends string> {
  observer(value: Label): Observe;
}

/**
 * A histogram with one label. It counts per message and per socket, which prom-client's own does ten times as slowly: it
 * looks its series up at each observation.
 */
export function createLatencyHistogram<Label extends string>(
  registry: Registry,
  { name, help, label }: { name: string; help: string; label: string },
): LatencyHistogram<Label> {
  const series = new Map<string, { counts: Float64Array; sum: number }>();

  const valuesOf = (value: string, { counts, sum }: { counts: Float64Array; sum: number }) => {
    const labels = { [label]: value };
    let total = 0;
    const buckets = [...counts].map((count, index) => ({
      metricName: `${name}_bucket`,
      labels: { ...labels, le: BOUNDS_S[index] ?? '+Inf' },
      value: (total += count),
    }));
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  };

  const metric = {
    name,
    get: async () => ({
      ...{ name, help, type: 'histogram', aggregator: 'sum' },
      values: [...series].flatMap(([value, counted]) => valuesOf(value, counted)),
    }),
    reset: () => series.clear(),
  };
  registry.registerMetric(metric as unknown as Metric); // all that a registry asks of one

  return {
    observer(value) {
      const counted = series.get(value) ?? { counts: new Float64Array(BOUNDS_S.length + 1), sum: 0 };
      series.set(value, counted);
      const { counts } = counted;
      return (seconds) => {
        let index = 0;
        while (seconds > (BOUNDS_S[index] ?? Infinity)) index++;
        counts[index] = (counts[index] ?? 0) + 1;
        counted.sum += seconds;
      };
    },
  };
}
