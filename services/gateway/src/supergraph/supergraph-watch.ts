import { createPeriodic, type Log } from '@taskmesh/service';
import { readFile, stat } from 'node:fs/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { LiveGraph } from './graph.ts';

const LOOK_EVERY_MS = 1_000;

export interface SupergraphWatchOptions {
  file: string;
  graph: LiveGraph;
  metrics: Registry;
  log: Log;
  /** @default 1_000 */
  lookEveryMs?: number;
}

/**
 * Serves a supergraph file again whenever it changes. Polls instead of listening for events, so that a rename over the
 * file or a swapped link above it (a ConfigMap) is noticed, too. A file that is still being written is left alone until
 * it settles.
 */
export function watchSupergraph({ file, graph, metrics, log, lookEveryMs = LOOK_EVERY_MS }: SupergraphWatchOptions) {
  const { took, refused } = createReloadMetrics(metrics);
  let tried: string | undefined;
  let seen: string | undefined;

  const load = async () => {
    tried = await stateOf(file);
    const sdl = await readFile(file, 'utf8');
    if (sdl === graph.current.supergraph.sdl) return;
    try {
      await graph.replace(sdl);
    } catch (error) {
      refused();
      log.error({ err: error, file }, 'the new supergraph cannot be used; the one before it goes on');
      return;
    }
    took();
    log.info({ file }, 'a new supergraph is served');
  };

  const look = async () => {
    const found = await stateOf(file);
    const isResting = found === seen;
    seen = found;
    if (isResting && found !== tried) await load();
  };

  const poll = createPeriodic({ everyMs: lookEveryMs, task: look, what: 'the supergraph file', log });

  return {
    async start() {
      poll.start();
    },
    /** Loads the file now, even if it was refused before. Never rejects. */
    reload: () =>
      load().catch((error: unknown) => {
        refused();
        log.error({ err: error, file }, 'the supergraph file cannot be read');
      }),
    stop: () => poll.stop(),
  };
}

/** Changes whenever the file does, however it was changed; links are followed. */
async function stateOf(file: string): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}

function createReloadMetrics(registry: Registry) {
  const registers = [registry];
  const reloads = new Counter({
    name: 'taskmesh_gateway_supergraph_reloads_total',
    help: 'New supergraphs by outcome: loaded, or refused while the one before it goes on',
    labelNames: ['outcome'],
    registers,
  });
  const loadedAt = new Gauge({
    name: 'taskmesh_gateway_supergraph_loaded_timestamp_seconds',
    help: 'When the supergraph that is served was loaded',
    registers,
  });
  reloads.inc({ outcome: 'loaded' }, 0);
  reloads.inc({ outcome: 'refused' }, 0);
  loadedAt.setToCurrentTime();
  return {
    took: () => {
      reloads.inc({ outcome: 'loaded' });
      loadedAt.setToCurrentTime();
    },
    refused: () => reloads.inc({ outcome: 'refused' }),
  };
}
