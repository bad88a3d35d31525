import type { Registry } from 'prom-client';

/** What this gateway serves to readers of the feed right now. */
export interface RealtimeFigures {
  /** Open sockets and HTTP streams, by protocol. */
  connections: Record<string, number>;
  subscriptions: number;
  /** Owners whose changes somebody reads here. */
  owners: number;
  /** What waits for clients to read it. */
  queueBytes: number;
}

/** The same numbers as the admin port's. */
export async function readRealtimeFigures(metrics: Registry): Promise<RealtimeFigures> {
  const valuesOf = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values ?? [];
  const sumOf = async (name: string) => (await valuesOf(name)).reduce((sum, { value }) => sum + value, 0);
  const connections = (await valuesOf('taskmesh_realtime_connections')).map(
    ({ labels, value }) => [String(labels.protocol), value] as const,
  );
  return {
    connections: Object.fromEntries(connections),
    subscriptions: await sumOf('taskmesh_realtime_subscriptions'),
    owners: await sumOf('taskmesh_realtime_owners'),
    queueBytes: await sumOf('taskmesh_realtime_queue_bytes'),
  };
}
