import { Kind, print, type ConstDirectiveNode, type DirectiveNode, type FieldNode } from 'graphql';

/**
 * Under which name a field travels between the executor and the services. It never is a client's alias: that could shadow a
 * field that the planner needs under its own name, such as a key.
 */
export interface FieldVariants {
  /** The same for the same field with the same arguments, wherever in the operation, and different for all others. */
  keyOf(node: FieldNode): string;
}

/**
 * @param reserved fields that the planner itself selects with arguments (`@requires`): clients' selections of them stay apart
 * @param prefix no field of any service begins with it
 */
export function createFieldVariants(reserved: ReadonlySet<string>, prefix: string): FieldVariants {
  const byName = new Map<string, Map<string, string>>();
  let count = 0;
  return {
    keyOf(node) {
      const name = node.name.value;
      let variants = byName.get(name);
      if (!variants) byName.set(name, (variants = new Map()));
      const text = textOf(node);
      let key = variants.get(text);
      if (key === undefined) {
        key = variants.size === 0 && !reserved.has(name) ? name : `${prefix}${count++}_${name}`;
        variants.set(text, key);
      }
      return key;
    },
  };
}

/**
 * The order of arguments means nothing. Objects under two keys of the client's stay apart: where a part of one must not be
 * null and is, the other may be whole.
 */
function textOf({ arguments: args = [], directives = [], alias, name, selectionSet }: FieldNode): string {
  const place = selectionSet ? [(alias ?? name).value] : [];
  const given = args.map((argument) => print(argument)).toSorted();
  return [...place, ...given, ...servicesDirectives(directives).map((directive) => print(directive))].join(' ');
}

/** `@skip` and `@include` are the executor's own business. */
export function servicesDirectives(directives: readonly DirectiveNode[] = []): DirectiveNode[] {
  return directives.filter(({ name }) => name.value !== 'skip' && name.value !== 'include');
}

export const fieldNode = (name: string, key = name): FieldNode & { directives?: readonly ConstDirectiveNode[] } => ({
  kind: Kind.FIELD,
  ...(key !== name && { alias: { kind: Kind.NAME, value: key } }),
  name: { kind: Kind.NAME, value: name },
});
