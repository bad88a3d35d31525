import { findFreePorts, serviceReady, startChild, untilReady } from '@taskmesh/local';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../../deploy/all-in-one/src/main.ts', import.meta.url));
const PROBE = new URL('probe.ts', import.meta.url).href;
/** The flags of a gateway in a cluster (charts/taskmesh/values.yaml). This process also contains the other services. */
export const GATEWAY_FLAGS = ['--max-old-space-size=460', '--max-semi-space-size=32'];
/** Changes go through Kafka, if the run has one. */
export const KAFKA = { brokers: process.env.KAFKA_BROKERS ?? '', topicPrefix: `limits-${process.pid}-` };
const LADDER = [['SIGTERM', 15_000]] as const;
const SAMPLE_MS = 50;
const SETTLE_MS = 100;

export type Reply = { status: number; body: string };
type Sent = { method?: string; headers?: Record<string, string>; body?: string | Buffer };

/** The resources that some work has used. */
export interface Usage {
  /** CPU time of the process. */
  cpuMs: number;
  /** CPU time of the longest iteration of the event loop. */
  pauseMs: number;
  /** The peak of private memory. */
  privateMib: number;
}

export type MeasuredProduct = Awaited<ReturnType<typeof startMeasuredProduct>>;

/** Starts the platform in one process, as `npm start` does, with a probe and the memory flags of a gateway. */
export async function startMeasuredProduct() {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-limits-'));
  const [port = 0, adminPort = 0] = await findFreePorts(2);
  const { PATH, HOME, JAVA_HOME, NODE_COMPILE_CACHE, POSTGRES_URL } = process.env;
  const child = await startChild({
    command: process.execPath,
    args: [...GATEWAY_FLAGS, `--import=${PROBE}`, PROGRAM],
    env: {
      ...{ PATH, HOME, JAVA_HOME, NODE_COMPILE_CACHE },
      ...{ DATA_DIR: dataDir, PORT: String(port), ADMIN_PORT: String(adminPort), LOG_LEVEL: 'error' },
      ...(POSTGRES_URL && { POSTGRES_URL, DATABASE_PREFIX: `test_limits_${process.pid}_` }),
      ...(KAFKA.brokers && { KAFKA_BROKERS: KAFKA.brokers, KAFKA_TOPIC_PREFIX: KAFKA.topicPrefix }),
      // All requests come from one address.
      RATE_LIMIT_FACTOR: '0',
      // An archive of a gigabyte is too large: 512 MiB unpacked.
      BACKUP_MAX_ARCHIVE_MB: '64',
      // The same as in the images.
      ...{ MALLOC_ARENA_MAX: '1', UV_THREADPOOL_SIZE: '16', APOLLO_TELEMETRY_DISABLED: '1' },
    },
    logFile: join(dataDir, 'output.log'),
    descriptors: ['ipc'],
    ladder: LADDER,
  });
  await untilReady(child, { name: 'the measured product', ready: () => serviceReady(`http://127.0.0.1:${adminPort}`) });
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });

  const command = async (name: 'begin' | 'end' | 'cpu' | 'collect'): Promise<unknown> => {
    const replied = once(child.process, 'message');
    child.process.send(name);
    const [{ result }] = (await Promise.race([replied, ended()])) as [{ result: unknown }];
    return result;
  };
  const ended = (): Promise<never> =>
    child.exited.then(() => {
      throw new Error(`The product ended.\n${child.lastOutput()}`);
    });

  return {
    url: `http://127.0.0.1:${port}`,

    send: (path: string, sent: Sent = {}): Promise<Reply> => send(agent, `http://127.0.0.1:${port}${path}`, sent),

    /** CPU time of the process so far, in milliseconds. */
    cpuMs: async () => (await command('cpu')) as number,

    /** Measures some work. Do nothing else with the product at the same time. */
    async measure(work: () => Promise<unknown>): Promise<Usage> {
      const memory = watchMemory(child.pid);
      await command('begin');
      try {
        await Promise.race([work(), ended()]);
      } finally {
        memory.stop();
      }
      const usage = (await command('end')) as Omit<Usage, 'privateMib'>;
      return { ...usage, privateMib: memory.mostMib() };
    },

    /** MiB in use after a full garbage collection. */
    async keptMib(): Promise<number> {
      agent.destroy(); // its idle connections
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS)); // closed sockets release their memory
      return ((await command('collect')) as number) / 2 ** 20;
    },

    async stop() {
      agent.destroy();
      await child.stop();
      rmSync(dataDir, { recursive: true });
    },
  };
}

function send(agent: Agent, url: string, { method = 'GET', headers, body }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { agent, method, headers: { ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

function watchMemory(pid: number) {
  let mostMib = privateMib(pid);
  const sample = () => (mostMib = Math.max(mostMib, privateMib(pid)));
  const timer = setInterval(sample, SAMPLE_MS);
  return {
    mostMib: () => mostMib,
    stop() {
      clearInterval(timer);
      sample();
    },
  };
}

/** Returns the memory that a process does not share with others; 0 if it has ended. */
function privateMib(pid: number): number {
  try {
    const lines = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8').matchAll(/^Private_\w+:\s+(\d+)/gm);
    return [...lines].reduce((sum, [, kib]) => sum + Number(kib), 0) / 1024;
  } catch {
    return 0;
  }
}
