import type { Address } from './config.ts';
import type { Node } from './node.ts';

/** The nodes of one task: one for each address, all closed together. */
export interface Nodes {
  open(address: Address): Node;
  close(): void;
}

export function createNodes(connect: (address: Address) => Node): Nodes {
  const nodes = new Map<string, Node>();
  return {
    open(address) {
      const name = `${address.host}:${address.port}`;
      const node = nodes.get(name) ?? connect(address);
      nodes.set(name, node);
      return node;
    },
    close() {
      for (const node of nodes.values()) node.close();
      nodes.clear();
    },
  };
}
