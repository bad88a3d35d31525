import type { HealthReport, Log } from '@taskmesh/service';
import { createPoll } from './auth/poll.ts';
import type { Connections } from './connections.ts';
import type { Supergraph } from './graph/supergraph.ts';

const PROBE_EVERY_MS = 250;

/** Asks each service until it has answered once: what happens to it later is an error of single requests. */
export function createReadiness(deps: { supergraph: Supergraph; connections: Connections; log: Log }) {
  const { supergraph, connections, log } = deps;
  const answered = new Set<string>();
  let isDraining = false;

  const probe = async () => {
    const silent = supergraph.services.filter(({ name }) => !answered.has(name));
    const failures: unknown[] = [];
    await Promise.all(
      silent.map(async ({ name, url }) => {
        try {
          await connections.probe(name, supergraph.own ? undefined : url);
          answered.add(name);
        } catch (error) {
          failures.push(error);
        }
      }),
    );
    if (failures.length > 0) throw failures[0];
    void poll.stop();
  };

  const poll = createPoll({ everyMs: PROBE_EVERY_MS, task: probe, what: 'a service of the graph', log });

  return {
    start: () => poll.start(),
    stop: () => poll.stop(),
    drain: () => {
      isDraining = true;
    },
    /** `loaded`: what else must be there once. */
    report(loaded: Record<string, boolean>): HealthReport {
      const services = supergraph.services.map(({ name }) => [name, answered.has(name)] as const);
      const checks = { ...loaded, ...Object.fromEntries(services), draining: isDraining };
      const isLoaded = Object.values(loaded).every(Boolean) && services.every(([, has]) => has);
      return { ok: isLoaded && !isDraining, checks };
    },
  };
}
