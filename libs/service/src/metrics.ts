import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { readVersion } from './config.ts';
import { lostLogLines } from './log.ts';

/** Makes counters and gauges of a registry. A gauge with `read` calls it at each scrape. */
export function createMeters(registry: Registry) {
  const registers = [registry];
  return {
    counter: (name: string, help: string, ...labelNames: string[]) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, read?: () => number | Promise<number>) =>
      new Gauge({
        ...{ name, help, registers },
        async collect() {
          if (read) this.set(await read());
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

/** Services in one process share a histogram by its name. */
export function createLatencyHistogram<Label extends string>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: Label[]
): Histogram<Label> {
  const known = registry.getSingleMetric(name) as Histogram<Label> | undefined;
  return known ?? new Histogram({ name, help, labelNames, buckets: BOUNDS_S, registers: [registry] });
}
