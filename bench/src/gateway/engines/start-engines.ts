import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Surroundings } from '../../benchmark.ts';
import { startProgram, startServer } from '../../processes/start-node.ts';
import { copyAsImage } from './as-image.ts';
import { MissingEngine, TITLES, type EngineName, type EngineOptions, type RunningEngine } from './engine.ts';
import { providePackages } from './provide-packages.ts';

const ROOT = new URL('../../../../', import.meta.url);
const HIVE = {
  '@graphql-hive/gateway-runtime': '2.12.1',
  '@graphql-hive/router-runtime': '1.4.23',
  // How it reaches services: loaded by name.
  '@graphql-mesh/transport-http': '1.2.1',
  graphql: '16.15.0',
};

const START: Record<EngineName, (options: EngineOptions) => Promise<RunningEngine>> = {
  taskmesh: (options) => startTaskmesh('taskmesh', new URL('services/gateway/src/main.ts', ROOT), options),
  'taskmesh-image': async (options) => {
    const copy = await copyAsImage(join(options.dataDir, 'as-image'));
    const noCache = withEnv(options, { NODE_DISABLE_COMPILE_CACHE: '1' });
    return startTaskmesh('taskmesh-image', pathToFileURL(join(copy, 'services/gateway/src/main.js')), noCache);
  },
  apollo: (options) => startOther('apollo', new URL('apollo.main.ts', import.meta.url), options),
  'apollo-undici': (options) =>
    startOther('apollo-undici', new URL('apollo.main.ts', import.meta.url), withEnv(options, { FETCH_BY: 'undici' })),
  hive: async (options) => {
    const packages = await providePackages(options.cacheDir, HIVE);
    return startOther('hive', new URL('hive.main.ts', import.meta.url), withEnv(options, { PACKAGES: packages }));
  },
};

/** Starts gateways one after the other; all run until `stop`. */
export async function startEngines({
  names,
  log,
  signal,
  ...options
}: EngineOptions & Surroundings & { names: readonly EngineName[] }) {
  await using closers = new Closers();
  const engines: RunningEngine[] = [];
  /** Why others are not there. */
  const missing: { name: EngineName; reason: string }[] = [];
  for (const name of names) {
    signal.throwIfAborted();
    log(`Starting ${TITLES[name]} …`);
    try {
      await (await START[name](options)).stop(); // fills the compile cache: a first start needs more memory for good
      const engine = closers.use(await START[name](options));
      engines.push(engine);
    } catch (error) {
      if (!(error instanceof MissingEngine)) throw error;
      log(`${TITLES[name]} is left out: ${error.message}`);
      missing.push({ name, reason: error.message });
    }
  }
  return { engines, missing, stop: closers.handOver() };
}

/** As images and the chart start Node. */
const YOUNG_GENERATION = '--max-semi-space-size=32';
const MALLOC_ARENA_MAX = '1';

/** The gateway's own process, as it serves a foreign graph. */
async function startTaskmesh(
  name: EngineName,
  file: URL,
  { dataDir, supergraphFile, env }: EngineOptions,
): Promise<RunningEngine> {
  const NODE_OPTIONS = [env.NODE_OPTIONS, YOUNG_GENERATION].join(' ').trim();
  const { url, pid, stop } = await startProgram({
    name,
    file,
    env: { ...env, MALLOC_ARENA_MAX, NODE_OPTIONS, SUPERGRAPH_FILE: supergraphFile },
    logFile: join(dataDir, `${name}.log`),
  });
  return { name, url: `${url}/graphql`, pid, stop };
}

async function startOther(
  name: EngineName,
  file: URL,
  { dataDir, supergraphFile, env }: EngineOptions,
): Promise<RunningEngine> {
  const logFile = join(dataDir, `${name}.log`);
  const { url, pid, stop } = await startServer({ file, env: { ...env, SUPERGRAPH_FILE: supergraphFile }, logFile });
  return { name, url, pid, stop };
}

function withEnv(options: EngineOptions, more: Record<string, string>): EngineOptions {
  return { ...options, env: { ...options.env, ...more } };
}
