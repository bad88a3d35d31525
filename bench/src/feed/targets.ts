import { databaseUrl, serviceDatabase } from '@taskmesh/local';
import { Closers } from '@taskmesh/service';
import { join } from 'node:path';
import { startEmbeddedTarget } from '../targets/embedded.ts';
import { startNode } from '../targets/node-process.ts';
import { startSeparate } from '../targets/separate.ts';
import { targetEnvironment } from '../targets/start-targets.ts';
import type { Part, Target, TargetOptions } from '../targets/target.ts';
import type { Way } from './cells.ts';
import type { SourceAddresses } from './load/sources.ts';

/** Whose time it is: of the process with the sockets, of our other processes, or of a store. */
export type FeedRole = 'sockets' | 'inner' | 'postgres' | 'redis' | 'kafka';

export interface FeedTarget {
  way: Way;
  url: string;
  sources: SourceAddresses;
  parts: { name: string; role: FeedRole; pid: number }[];
  /** The process with the sockets. */
  pid: number;
  settle(): Promise<void>;
}

export interface FeedTargetOptions extends TargetOptions {
  keysFile: string;
  sockets: number;
}

/** Starts what is to be compared, each with stores of its own; the bare server reads the Kafka of the separate processes. */
export async function startFeedTargets(
  ways: readonly Way[],
  options: FeedTargetOptions & { signal: AbortSignal },
): Promise<{ targets: FeedTarget[]; postgresVersion: string; stop(): Promise<void> }> {
  const { dataDir, log, signal, keysFile, sockets } = options;
  const env = {
    ...targetEnvironment(options.env),
    ACCESS_TOKEN_KEYS_FILE: keysFile,
    // All sockets come from one address, and all of an owner's are one user's.
    REALTIME_MAX_SOCKETS_PER_IP: String(2 * sockets),
    REALTIME_MAX_SOCKETS_PER_USER: String(2 * sockets),
  };
  const closers = new Closers();
  const targets: FeedTarget[] = [];
  let postgresVersion = '';
  const add = (target: Target) => {
    closers.add(() => target.stop());
    targets.push(feedTarget(target));
    postgresVersion = target.postgresVersion;
  };
  const begin = (way: Way) => {
    signal.throwIfAborted();
    log(`Starting ${way} …`);
    return { dataDir: join(dataDir, way), env, log: () => undefined };
  };
  try {
    if (ways.includes('embedded')) add(await startEmbeddedTarget(begin('embedded')));
    if (ways.includes('separate')) add(await startSeparate(begin('separate')));
    if (ways.includes('bare')) {
      const kafka = targets.find(({ way }) => way === 'separate');
      const { target, stop } = await startBareFeed(begin('bare'), kafka);
      closers.add(stop);
      targets.unshift(target);
    }
    return { targets, postgresVersion, stop: () => closers.closeAll() };
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

function feedTarget({ name, url, parts, servers, settle }: Target): FeedTarget {
  const roled = parts.map((part) => ({ ...part, role: roleOf(part) }));
  const holder = roled.find(({ role }) => role === 'sockets');
  if (!holder || !servers) throw new Error(`${name} is no target for the feed.`);
  const { postgres, kafka } = servers;
  const sources = { tasksDatabase: databaseUrl(postgres, serviceDatabase('tasks')), ...(kafka && { kafka }) };
  return { way: name, url, sources, parts: roled, pid: holder.pid, settle };
}

function roleOf({ name, role }: Part): FeedRole {
  if (role !== 'server') return role;
  return name === 'platform' || name.startsWith('gateway') ? 'sockets' : 'inner';
}

async function startBareFeed(
  { dataDir, env }: TargetOptions,
  withKafka: FeedTarget | undefined,
): Promise<{ target: FeedTarget; stop(): Promise<void> }> {
  const kafka = withKafka?.sources.kafka;
  const server = await startNode({
    name: 'bare',
    file: new URL('bare/main.ts', import.meta.url),
    env: { ...env, ...(kafka && { KAFKA_BROKERS: kafka }) },
    logFile: join(dataDir, 'bare.log'),
  });
  try {
    const { url } = (await server.nextMessage()) as { url: string }; // its first words
    const own = { name: 'bare', role: 'sockets', pid: server.pid } as const;
    const stores = withKafka?.parts.filter(({ role }) => role === 'kafka') ?? [];
    const sources = { http: url, ...(kafka && { kafka }) };
    const settle = async () => undefined;
    return {
      target: { way: 'bare', url, sources, parts: [own, ...stores], pid: server.pid, settle },
      stop: server.stop,
    };
  } catch (error) {
    await server.stop();
    throw error;
  }
}
