import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { transferOwnership, startProgram, startServer, stopPart } from '../machine/processes.ts';
import type { Environment, RunContext } from '../run/benchmark.ts';

export const ENGINES = ['taskmesh', 'taskmesh-image', 'apollo', 'apollo-undici'] as const;
export type EngineName = (typeof ENGINES)[number];

export const TITLES: Record<EngineName, string> = {
  taskmesh: 'Taskmesh',
  'taskmesh-image': 'Taskmesh, as in an image',
  apollo: 'Apollo Server + @apollo/gateway',
  'apollo-undici': 'the same, fetching by undici',
};

/** A running gateway. `url` is its GraphQL endpoint. */
type Engine = { name: EngineName; url: string; pid: number; stop(): Promise<void> };

const ROOT = join(import.meta.dirname, '../../..');
const execute = promisify(execFile);

type Start = (dataDir: string, env: Environment) => Promise<Engine>;
const START: Record<EngineName, Start> = {
  taskmesh: (dataDir, env) => startTaskmesh('taskmesh', join(ROOT, 'services/gateway/src/main.ts'), dataDir, env),
  'taskmesh-image': async (dataDir, env) => {
    const main = join(await copyAsImage(dataDir), 'services/gateway/src/main.js');
    return startTaskmesh('taskmesh-image', main, dataDir, { ...env, NODE_DISABLE_COMPILE_CACHE: '1' });
  },
  apollo: (dataDir, env) => startApollo('apollo', 'apollo.main.ts', dataDir, env),
  'apollo-undici': (dataDir, env) =>
    startApollo('apollo-undici', 'apollo.main.ts', dataDir, { ...env, FETCH_BY: 'undici' }),
};

/** Starts gateways one after the other; all run until `stop`. */
export async function startEngines(names: readonly EngineName[], { dataDir, env, log, signal }: RunContext) {
  await using closers = new AsyncDisposableStack();
  const engines: Engine[] = [];
  for (const name of names) {
    signal.throwIfAborted();
    log(`Starting ${TITLES[name]} …`);
    await (await START[name](dataDir, env)).stop(); // fills the compile cache, because the first start needs more memory
    engines.push(closers.adopt(await START[name](dataDir, env), stopPart));
  }
  return { engines, stop: transferOwnership(closers) };
}

/** Starts our gateway with a foreign graph, in the same way as images and the chart. */
async function startTaskmesh(name: EngineName, main: string, dataDir: string, env: Environment): Promise<Engine> {
  const NODE_OPTIONS = [env.NODE_OPTIONS, '--max-semi-space-size=32'].join(' ').trim();
  const { url, pid, stop } = await startProgram({
    ...{ name, file: pathToFileURL(main), env: { ...env, MALLOC_ARENA_MAX: '1', NODE_OPTIONS } },
    logFile: join(dataDir, `${name}.log`),
  });
  return { name, url: `${url}/graphql`, pid, stop };
}

async function startApollo(name: EngineName, main: string, dataDir: string, env: Environment): Promise<Engine> {
  const file = new URL(main, import.meta.url);
  const { url, pid, stop } = await startServer({ file, env, logFile: join(dataDir, `${name}.log`) });
  return { name, url, pid, stop };
}

/** Copies our sources as in an image, as JavaScript in a folder of their own. Other packages are linked. */
async function copyAsImage(dataDir: string): Promise<string> {
  const dir = join(dataDir, 'as-image');
  if (existsSync(dir)) return dir;
  const own = ['package.json', 'packages', 'libs', 'services', 'deploy', 'node_modules/@taskmesh'];
  for (const name of own) cpSync(join(ROOT, name), join(dir, name), { recursive: true, verbatimSymlinks: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== '@taskmesh') symlinkSync(join(ROOT, 'node_modules', name), join(dir, 'node_modules', name));
  await execute(process.execPath, [join(dir, 'deploy/image/strip-types.ts')]);
  return dir;
}
