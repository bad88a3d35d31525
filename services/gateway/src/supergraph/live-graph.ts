import type { Documents } from '@taskmesh/federation';
import { createMeters, type Log } from '@taskmesh/service';
import type { GraphQLSchema } from 'graphql';
import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import type { AdmittedOperation, GraphExecutor, GraphSources, RequestCall } from './operation.ts';
import type { Supergraph } from './supergraph.ts';

/** A supergraph and everything derived from it; all of it is replaced together. */
export interface Graph extends Pick<Documents, 'admit' | 'admitKnown' | 'settle' | 'parsed'> {
  readonly supergraph: Supergraph;
  readonly services: GraphSources;
  readonly executor: GraphExecutor;
}

/** Called before `next` takes over. The resulting function runs synchronously with the switch, and must not throw. */
export type BeforeSwitch = (next: Graph) => Promise<() => void> | (() => void);

/** The graph that is served, which may be replaced at any time. */
export type LiveGraph = ReturnType<typeof createLiveGraph>;

export function createLiveGraph({ initial, build }: { initial: Graph; build: (sdl: string) => Graph }) {
  const bySchema = new WeakMap([[initial.supergraph.schema, initial]]);
  const preparers: BeforeSwitch[] = [];
  let current = initial;

  /** The graph that a schema belongs to, current or former: an operation finishes on the graph on which it began. */
  const of = (schema: GraphQLSchema) => bySchema.get(schema) ?? current;

  return {
    get current() {
      return current;
    },
    of,
    /** Runs a query or mutation on its own graph. Never rejects, see `GraphExecutor`. */
    run: (admitted: AdmittedOperation, call: RequestCall) => of(admitted.operation.schema).executor.run(admitted, call),
    beforeSwitch: (prepare: BeforeSwitch): void => void preparers.push(prepare),
    /**
     * Resolves once the new graph is served. Call it again only then.
     * @throws if the new graph cannot be used, in which case nothing changes
     */
    async replace(sdl: string) {
      const next = build(sdl);
      if (next.supergraph.own !== current.supergraph.own)
        throw new Error('Accounts and paths of ours come and go with this supergraph: that needs a restart.');
      const switches = await Promise.all(preparers.map((prepare) => prepare(next)));
      bySchema.set(next.supergraph.schema, next);
      current = next;
      for (const switchOver of switches) switchOver();
    },
  };
}

const CHECK_EVERY_MS = 1_000;

export interface SupergraphWatchOptions {
  file: string;
  graph: LiveGraph;
  metrics: Registry;
  log: Log;
  /** @default 1_000 */
  checkEveryMs?: number;
}

/**
 * Reloads a supergraph file whenever it changes. Polls instead of listening for events, so that a rename over the file or a
 * swapped link above it (a ConfigMap) is noticed, too. Waits until the file is no longer being written.
 */
export function watchSupergraph({ file, graph, metrics, log, checkEveryMs = CHECK_EVERY_MS }: SupergraphWatchOptions) {
  const { took, kept, refused } = createReloadMetrics(metrics);
  let tried = graph.current.supergraph.sdl;
  let settling: NodeJS.Timeout | undefined;
  let loading = Promise.resolve();
  let isStopped = false;

  const loadNow = async (mayBeTried: boolean) => {
    try {
      const sdl = await readFile(file, 'utf8').catch((error: unknown) => {
        loadOnceSettled(); // the file itself may never change again
        throw error;
      });
      const isTried = sdl === tried && !mayBeTried;
      tried = sdl;
      if (sdl === graph.current.supergraph.sdl) return kept();
      if (isTried) return;
      await graph.replace(sdl);
    } catch (error) {
      refused();
      return log.error({ err: error, file }, 'the new supergraph cannot be used; keeping the previous one');
    }
    took();
    log.info({ file }, 'a new supergraph is served');
  };
  /** One at a time: what the file has by then is compared with the graph that is served by then. */
  const load = (mayBeTried: boolean) => (loading = loading.then(() => loadNow(mayBeTried)));
  const loadOnceSettled = () => {
    clearTimeout(settling);
    if (!isStopped) settling = setTimeout(() => void load(false), checkEveryMs);
  };

  return {
    async start() {
      watchFile(file, { interval: checkEveryMs }, loadOnceSettled);
      loadOnceSettled(); // it may have changed since it was read
    },
    /** Loads the file now, even if it was refused before. Never rejects. */
    reload: () => load(true),
    async stop() {
      isStopped = true;
      unwatchFile(file, loadOnceSettled);
      clearTimeout(settling);
    },
  };
}

function createReloadMetrics(registry: Registry) {
  const { counter, gauge } = createMeters(registry);
  const reloads = counter(
    'taskmesh_gateway_supergraph_reloads_total',
    'New supergraphs by outcome: loaded, or refused while the previous one stays in use',
    'outcome',
  );
  const loadedAt = gauge(
    'taskmesh_gateway_supergraph_loaded_timestamp_seconds',
    'When the supergraph that is served was loaded',
  );
  const isRefused = gauge(
    'taskmesh_gateway_supergraph_refused',
    '1 while the file holds a supergraph that was refused',
  );
  const kept = () => isRefused.set(0);
  for (const outcome of ['loaded', 'refused']) reloads.inc({ outcome }, 0);
  loadedAt.setToCurrentTime();
  return {
    kept,
    took() {
      kept();
      reloads.inc({ outcome: 'loaded' });
      loadedAt.setToCurrentTime();
    },
    refused() {
      reloads.inc({ outcome: 'refused' });
      isRefused.set(1);
    },
  };
}
