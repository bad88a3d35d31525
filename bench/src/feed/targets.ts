import type { Surroundings } from '../benchmark.ts';
import type { TargetName } from '../operations.ts';
import { startBareProcess } from '../targets/bare.ts';
import { START, startTargets } from '../targets/start-targets.ts';
import type { Target, TargetOptions } from '../targets/target.ts';

/** In this order: the bare server reads the Kafka of the separate processes. */
const ORDER: TargetName[] = ['embedded', 'separate', 'bare'];

/** Starts what is to be compared, each with stores of its own. */
export function startFeedTargets(
  ways: readonly TargetName[],
  options: Surroundings & { sockets: number; settings: Record<string, string> },
): Promise<{ targets: Target[]; stop(): Promise<void> }> {
  return startTargets(
    ORDER.filter((way) => ways.includes(way)),
    options,
    { start: { ...START, bare: startBareFeed }, settings: { ...options.settings, ...socketSettings(options.sockets) } },
  );
}

/** All sockets come from one address, and all of an owner's are one user's. */
export function socketSettings(sockets: number): Record<string, string> {
  const most = String(2 * sockets);
  return { REALTIME_MAX_SOCKETS_PER_IP: most, REALTIME_MAX_SOCKETS_PER_USER: most };
}

async function startBareFeed(options: TargetOptions, others: readonly Target[]): Promise<Target> {
  const separate = others.find(({ name }) => name === 'separate');
  const kafka = separate?.sources.kafka;
  const file = new URL('bare/main.ts', import.meta.url);
  const server = await startBareProcess({ ...options, file, settings: kafka ? { KAFKA_BROKERS: kafka } : {} });
  return {
    ...server,
    parts: [...server.parts, ...(separate?.parts.filter(({ role }) => role === 'kafka') ?? [])],
    sources: { http: server.url, ...(kafka && { kafka }) },
  };
}
