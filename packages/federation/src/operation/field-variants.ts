import { Kind, print, type ConstDirectiveNode, type DirectiveNode, type FieldNode } from 'graphql';
import { sortValueNode } from 'graphql/utilities/sortValueNode.js';

/**
 * Assigns the response keys of fields between the executor and the services. Clients' aliases are never used, because they
 * could shadow fields that the planner needs under their own names, such as key fields.
 */
export type FieldVariants = ReturnType<typeof createFieldVariants>;

/**
 * @param reserved fields that the planner itself selects with arguments (`@requires`); clients' selections of them get other keys
 * @param prefix a prefix with which no field name of a service begins
 */
export function createFieldVariants(reserved: ReadonlySet<string>, prefix: string) {
  const byName = new Map<string, Map<string, string>>();
  /** A cache, because a fragment's nodes recur wherever it is spread, and printing long arguments is expensive. */
  const known = new Map<FieldNode, string>();
  let count = 0;
  return {
    /** Returns the same key for equal fields with equal arguments anywhere in the operation, and different keys otherwise. */
    keyOf(node: FieldNode) {
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
 * The order of arguments and of input fields does not matter. Objects under different response keys stay separate, because
 * a null in a non-null field may invalidate one of them but not the other.
 */
function textOf({ arguments: args = [], directives = [], alias, name, selectionSet }: FieldNode): string {
  const place = selectionSet ? [(alias ?? name).value] : [];
  const given = args.map((argument) => print({ ...argument, value: sortValueNode(argument.value) })).toSorted();
  return [...place, ...given, ...servicesDirectives(directives).map((directive) => print(directive))].join(' ');
}

/** The directives to pass on to services. The executor itself handles `@skip` and `@include`. */
export function servicesDirectives(directives: readonly DirectiveNode[] = []): DirectiveNode[] {
  return directives.filter(({ name }) => name.value !== 'skip' && name.value !== 'include');
}

export const fieldNode = (name: string, key = name): FieldNode & { directives?: readonly ConstDirectiveNode[] } => ({
  kind: Kind.FIELD,
  ...(key !== name && { alias: { kind: Kind.NAME, value: key } }),
  name: { kind: Kind.NAME, value: name },
});
