import { findFreePorts, serviceReady, startChild, untilReady } from '@taskmesh/local';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadCalls } from '../load/main.ts';
import type { Environment } from '../run/benchmark.ts';
import type { Calls, Reply } from './child.ts';

const LADDER = [['SIGTERM', 15_000]] as const;

interface NodeOptions {
  file: URL;
  /** Node's own options. */
  execArgv?: string[];
  env: Environment;
  logFile: string;
}

/** Runs a file as a process with an IPC channel, so that it ends when we do. */
async function startNode({ file, execArgv = [], env, logFile }: NodeOptions) {
  const args = [...execArgv, fileURLToPath(file)];
  const options = { env, logFile, descriptors: ['ipc' as const], ladder: LADDER };
  const child = await startChild({ command: process.execPath, args, ...options });
  const ended = child.exited.then(() => {
    throw new Error(`${args.at(-1)} ended.\n${child.lastOutput()}`);
  });
  ended.catch(() => undefined); // thrown by `nextMessage`
  return {
    ...child,
    /** @throws when the process ends instead */
    nextMessage: async () => ((await Promise.race([once(child.process, 'message'), ended])) as unknown[])[0],
  };
}

/** Runs a file whose first message is its address (`listen`, `reportUrl`). */
export async function startServer(options: NodeOptions) {
  const server = await startNode(options);
  return { ...server, ...((await server.nextMessage()) as { url: string }) }; // its first message
}

/** Runs one of the product's programs until it is ready. */
export async function startProgram({ name, ...options }: NodeOptions & { name: string }) {
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const env = { ...options.env, PORT: String(port), ADMIN_PORT: String(adminPort) };
  const program = await startNode({ ...options, env });
  await untilReady(program, { name, ready: () => serviceReady(`http://127.0.0.1:${adminPort}`) });
  return { url: `http://127.0.0.1:${port}`, pid: program.pid, stop: program.stop };
}

/** Runs a file that serves calls, one at a time. */
async function startCallServer<Called extends Calls>(options: NodeOptions) {
  const child = await startNode(options);
  return {
    async call<Name extends keyof Called & string>(
      name: Name,
      ...args: Parameters<Called[Name]>
    ): Promise<Awaited<ReturnType<Called[Name]>>> {
      const replied = child.nextMessage();
      child.process.send({ name, args }, () => undefined); // `nextMessage` rejects when the channel is broken
      const reply = (await replied) as Reply; // both ends are ours
      if ('failure' in reply) throw new Error(reply.failure);
      return reply.result as Awaited<ReturnType<Called[Name]>>;
    },
    stop: () => child.stop(),
  };
}

export type Load = Awaited<ReturnType<typeof startLoad>>;

/** Makes the load's own collections rare, and lets it collect between measurements, because they would look like server latency. */
const GC_OPTIONS = ['--expose-gc', '--min-semi-space-size=64', '--max-semi-space-size=64'];

/** Starts the process that sends all requests. */
export const startLoad = (dataDir: string) =>
  startCallServer<LoadCalls>({
    file: new URL('../load/main.ts', import.meta.url),
    execArgv: GC_OPTIONS,
    env: process.env,
    logFile: join(dataDir, 'load.log'),
  });

/** Stops a part of an AsyncDisposableStack (for its `adopt`). */
export async function stopPart(part: { stop(): Promise<unknown> | unknown }): Promise<void> {
  await part.stop();
}

/** Returns a function that closes everything in the stack. From now on, its receiver must call it. */
export function transferOwnership(closers: AsyncDisposableStack): () => Promise<void> {
  const kept = closers.move();
  return () => kept.disposeAsync();
}
