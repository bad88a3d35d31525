import { createPeriodic, type HealthReport, type Log } from '@taskmesh/service';
import type { Connections } from '../connections/connections.ts';
import type { LiveGraph } from '../supergraph/graph.ts';

const PROBE_EVERY_MS = 250;

/** Probes each service until it has answered once. If one fails later, single requests fail instead. */
export function createReadiness(deps: { graph: LiveGraph; connections: Connections; log: Log }) {
  const { graph, connections, log } = deps;
  const answered = new Set<string>();
  /** Services that join the graph later must not make a running gateway unready. */
  let hasAll = false;
  let isDraining = false;
  const services = () => graph.current.supergraph.services;

  const probe = async () => {
    const silent = services().filter(({ name }) => !answered.has(name));
    const failures: unknown[] = [];
    await Promise.all(
      silent.map(async ({ name, url, own }) => {
        try {
          await connections.probe(name, own ? undefined : url);
          answered.add(name);
        } catch (error) {
          failures.push(error);
        }
      }),
    );
    if (failures.length > 0) throw failures[0];
    hasAll = true;
    void poll.stop();
  };

  const poll = createPeriodic({ everyMs: PROBE_EVERY_MS, task: probe, what: 'a service of the graph', log });

  return {
    async start() {
      poll.start();
    },
    stop: () => poll.stop(),
    drain: () => {
      isDraining = true;
    },
    /** `loaded` lists other preconditions. */
    report(loaded: Record<string, boolean>): HealthReport {
      const known = services().map(({ name }) => [name, hasAll || answered.has(name)] as const);
      const checks = { ...loaded, ...Object.fromEntries(known), draining: isDraining };
      const isLoaded = Object.values(loaded).every(Boolean) && known.every(([, has]) => has);
      return { ok: isLoaded && !isDraining, checks };
    },
  };
}
