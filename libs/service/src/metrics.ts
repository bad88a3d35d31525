import { collectDefaultMetrics, Counter, Gauge, Registry, type Metric } from 'prom-client';
import { readVersion } from './config.ts';
import { lostLogLines } from './log.ts';

/** Makes counters and gauges of a registry. A gauge with `read` calls it at each scrape. */
export function createMeters(registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, ...labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, read?: () => number) =>
      new Gauge({
        ...{ name, help, registers },
        collect() {
          if (read) this.set(read());
        },
      }),
  };
}

/** A registry with the process's own metrics (version, event loop, memory, CPU). Create one per process. */
export function createMetrics(labels: Record<string, string> = {}): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'taskmesh_build_info',
    help: 'Always 1: which version this is',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: readVersion() }, 1);
  new Counter({
    name: 'taskmesh_log_lines_lost_total',
    help: 'Log lines that could not be written: the disk is full, or nothing reads the log',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(lostLogLines());
    },
  });
  return registry;
}

/** Seconds. The targets are 10 ms (median) and 50 ms (99th percentile). */
const BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export type Observe = (seconds: number) => void;

export interface LatencyHistogram<Label extends string> {
  /** Call once per series and keep the result: the lookup costs more than counting. */
  observer(labels: Partial<Record<Label, string>>): Observe;
}

interface Series {
  labels: Record<string, string>;
  counts: Float64Array;
  sum: number;
}

/**
 * A histogram that is fast enough for every message, socket and statement. prom-client's is ten times slower, because it
 * looks up the series at each observation. Services in one process share a histogram by its name.
 */
export function createLatencyHistogram<Label extends string>(
  registry: Registry,
  { name, help }: { name: string; help: string },
): LatencyHistogram<Label> {
  const known = registry.getSingleMetric(name);
  if (known) return known as unknown as LatencyHistogram<Label>;
  const series = new Map<string, Series>();

  const valuesOf = ({ labels, counts, sum }: Series) => {
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
      values: [...series.values()].flatMap(valuesOf),
    }),
    reset: () => series.clear(),
    observer(labels: Record<string, string>): Observe {
      const key = JSON.stringify(labels);
      const counted = series.get(key) ?? { labels, counts: new Float64Array(BOUNDS_S.length + 1), sum: 0 };
      series.set(key, counted);
      const { counts } = counted;
      return (seconds) => {
        let index = 0;
        while (seconds > (BOUNDS_S[index] ?? Infinity)) index++;
        counts[index] = (counts[index] ?? 0) + 1;
        counted.sum += seconds;
      };
    },
  };
  registry.registerMetric(metric as unknown as Metric); // all that a registry needs of a metric
  return metric as LatencyHistogram<Label>;
}
