import { findFreePorts, serviceReady, startChild, untilReady, type RunningProcess } from '@taskmesh/local';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const LADDER = [['SIGTERM', 15_000]] as const;

export interface NodeProcess extends RunningProcess {
  /** The next message of the process. @throws when it ends instead */
  nextMessage(): Promise<unknown>;
}

export interface NodeOptions {
  file: URL;
  /** Node's own options. */
  execArgv?: string[];
  env: Readonly<Record<string, string | undefined>>;
  logFile: string;
}

/** Runs one of our files as a process of its own, with a channel to it: it ends when we do, however we end. */
export async function startNode({ file, execArgv = [], env, logFile }: NodeOptions): Promise<NodeProcess> {
  const args = [...execArgv, fileURLToPath(file)];
  const options = { env, logFile, descriptors: ['ipc' as const], ladder: LADDER };
  const child = await startChild({ command: process.execPath, args, ...options });
  const ended = child.exited.then(() => {
    throw new Error(`${args.at(-1)} ended.\n${child.lastWords()}`);
  });
  ended.catch(() => undefined); // told to whoever waits for a message
  return {
    ...child,
    nextMessage: async () => ((await Promise.race([once(child.process, 'message'), ended])) as unknown[])[0],
  };
}

/** Runs a file that tells its address first, by `tellAddress`. */
export async function startServer(options: NodeOptions): Promise<NodeProcess & { url: string }> {
  const server = await startNode(options);
  return { ...server, ...((await server.nextMessage()) as { url: string }) }; // its first words
}

/** Runs one of the product's programs; resolves when it says that it is ready, at its port for administrators or the other. */
export async function startProgram(
  options: NodeOptions & { name: string; asked?: 'port' | 'adminPort'; intervalMs?: number },
) {
  const { name, asked = 'adminPort', intervalMs } = options;
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const begunMs = performance.now();
  const env = { ...options.env, PORT: String(port), ADMIN_PORT: String(adminPort) };
  const program = await startNode({ ...options, env });
  const ready = () => serviceReady(`http://127.0.0.1:${{ port, adminPort }[asked]}`);
  await untilReady(program, { name, ready, intervalMs });
  const { pid, stop } = program;
  return { url: `http://127.0.0.1:${port}`, pid, stop, readyMs: performance.now() - begunMs };
}
