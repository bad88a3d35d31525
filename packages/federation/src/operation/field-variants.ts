import { Kind, print, type ConstDirectiveNode, type DirectiveNode, type FieldNode } from 'graphql';

/**
 * Assigns the keys under which fields travel between the executor and the services. Clients' aliases are never used,
 * because they could shadow fields that the planner needs under their own names, such as keys.
 */
export interface FieldVariants {
  /** The same key for equal fields with equal arguments throughout the operation, and different ones for all others. */
  keyOf(node: FieldNode): string;
}

/**
 * @param reserved fields that the planner itself selects with arguments (`@requires`), kept apart from clients'
 * selections
 * @param prefix no service's field name begins with it
 */
export function createFieldVariants(reserved: ReadonlySet<string>, prefix: string): FieldVariants {
  const byName = new Map<string, Map<string, string>>();
  /** A node of a fragment is met wherever that is spread; its arguments may be long. */
  const known = new Map<FieldNode, string>();
  let count = 0;
  return {
    keyOf(node) {
      const before = known.get(node);
      if (before !== undefined) return before;
      const name = node.name.value;
      let variants = byName.get(name);
      if (!variants) byName.set(name, (variants = new Map()));
      const text = textOf(node);
      let key = variants.get(text);
      if (key === undefined) {
        key = variants.size === 0 && !reserved.has(name) ? name : `${prefix}${count++}_${name}`;
        variants.set(text, key);
      }
      known.set(node, key);
      return key;
    },
  };
}

/**
 * The order of arguments does not matter. Objects under different response keys are kept apart: a null in a non-null
 * field may invalidate one of them but not the other.
 */
function textOf({ arguments: args = [], directives = [], alias, name, selectionSet }: FieldNode): string {
  const place = selectionSet ? [(alias ?? name).value] : [];
  const given = args.map((argument) => print(argument)).toSorted();
  return [...place, ...given, ...servicesDirectives(directives).map((directive) => print(directive))].join(' ');
}

/** `@skip` and `@include` are handled by the executor. */
export function servicesDirectives(directives: readonly DirectiveNode[] = []): DirectiveNode[] {
  return directives.filter(({ name }) => name.value !== 'skip' && name.value !== 'include');
}

export const fieldNode = (name: string, key = name): FieldNode & { directives?: readonly ConstDirectiveNode[] } => ({
  kind: Kind.FIELD,
  ...(key !== name && { alias: { kind: Kind.NAME, value: key } }),
  name: { kind: Kind.NAME, value: name },
});
