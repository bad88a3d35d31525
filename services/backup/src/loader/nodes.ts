import type { Node, RangeVar } from 'libpg-query';

/** A statement of one kind, as the parser gives it. */
export type NodeOf<Kind extends string> = Node extends infer One
  ? One extends Record<Kind, infer Body>
    ? Body
    : never
  : never;

/** The text of a name or a string; empty for anything else. */
export function textOf(node: Node | undefined): string {
  return node && 'String' in node ? (node.String.sval ?? '') : '';
}

/** `schema.name` in pieces; no schema when none is written. */
export function namePartsOf(nodes: Node[] = []): { schema: string | undefined; name: string } {
  const [name = '', schema] = nodes.map(textOf).toReversed();
  return { schema, name };
}

/** What `node` holds when it is of the kind. */
export function as<Kind extends string>(node: Node | undefined, kind: Kind): NodeOf<Kind> | undefined {
  return node && kind in node ? (node as Record<Kind, NodeOf<Kind>>)[kind] : undefined;
}

export type { Node, RangeVar };
