import type { Node, RangeVar } from 'libpg-query';

export type NodeOf<Kind extends string> = Node extends infer One
  ? One extends Record<Kind, infer Body>
    ? Body
    : never
  : never;

/** The text of a name or a string; empty for other nodes. */
export function textOf(node: Node | undefined): string {
  return node && 'String' in node ? (node.String.sval ?? '') : '';
}

/** Splits `schema.name`; the schema is undefined if it is omitted. */
export function namePartsOf(nodes: Node[] = []): { schema: string | undefined; name: string } {
  const [name = '', schema] = nodes.map(textOf).toReversed();
  return { schema, name };
}

/** The content of `node` if the node is of this kind. */
export function as<Kind extends string>(node: Node | undefined, kind: Kind): NodeOf<Kind> | undefined {
  return node && kind in node ? (node as Record<Kind, NodeOf<Kind>>)[kind] : undefined;
}

export type { Node, RangeVar };
