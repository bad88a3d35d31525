import type { Address } from './config.ts';
import type { Node } from './node.ts';
import { END } from './positions.ts';
import { byLeader } from './topic-metadata.ts';

/**
 * Whether the leader of each partition of a topic accepts requests for it. Metadata may name a leader before it has opened
 * the partition; requests to it fail until then.
 */
export async function areLeadersReady(
  topic: string,
  seed: Address,
  connect: (address: Address) => Node,
): Promise<boolean> {
  const nodes = new Map<string, Node>();
  const open = (address: Address): Node => {
    const name = `${address.host}:${address.port}`;
    const node = nodes.get(name) ?? connect(address);
    nodes.set(name, node);
    return node;
  };
  try {
    const metadata = await open(seed).metadata(topic);
    const partitions = metadata.topic?.partitions.length ?? 0;
    const offsets = await Promise.all(
      byLeader(metadata).map(([leader, led]) =>
        open(leader).listOffsets(
          topic,
          led.map((partition) => ({ partition, at: END })),
        ),
      ),
    );
    return partitions > 0 && offsets.flat().filter(({ errorCode }) => errorCode === 0).length === partitions;
  } finally {
    for (const node of nodes.values()) node.close();
  }
}
