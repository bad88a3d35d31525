import type { FetchNode, PlanNode, QueryPlan, QueryPlanSelectionNode } from '@apollo/query-planner';
import {
  Kind,
  parse,
  print,
  visit,
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  type ObjectTypeDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { replaceFetches } from './replace-fetches.ts';

/** One of several sets of arguments with which services require a field. `name` identifies the set. */
interface RequiredVariant {
  type: string;
  field: FieldDefinitionNode;
  /** The required selection, with its arguments. */
  node: FieldNode;
  /** The services that require this variant. */
  graphs: ReadonlySet<string>;
  name: string;
}

export interface RequiredVariants {
  /** The supergraph with an extra field per variant; unchanged when there are none. */
  document: DocumentNode;
  /** Translates a plan for `document` into a plan for the original supergraph. */
  restore(plan: QueryPlan): QueryPlan;
}

/**
 * The planner identifies a required field by name alone. If two fields of a service required the same field with different
 * arguments, one of them would receive the other's value. So the planner sees a separate field for each set of arguments,
 * and fetches that need several of these fields are split.
 */
export function separateRequiredVariants(supergraph: DocumentNode): RequiredVariants {
  const types = supergraph.definitions.filter((each) => each.kind === Kind.OBJECT_TYPE_DEFINITION);
  const taken = new Set<string>();
  const variants = types.flatMap((type) => variantsOf(type, taken));
  if (variants.length === 0) return { document: supergraph, restore: (plan) => plan };
  /** The variants required by a field, by type and field. */
  const needs = new Map<string, Set<string>>();

  const requireVariants = (type: string, field: string, directive: ConstDirectiveNode): ConstDirectiveNode => {
    const required = selectionOf(directive);
    if (!required) return directive;
    const own = new Set<string>();
    const selections = required.selections.map((node) => {
      const variant = variants.find((each) => each.type === type && isSame(each.node, node));
      if (!variant) return node;
      own.add(variant.name);
      return { kind: Kind.FIELD as const, name: { kind: Kind.NAME as const, value: variant.name } };
    });
    needs.set(`${type}.${field}`, new Set([...(needs.get(`${type}.${field}`) ?? []), ...own]));
    const text = print({ ...required, selections }).slice(1, -1);
    return {
      ...directive,
      arguments: directive.arguments?.map((each) =>
        each.name.value === 'requires' ? { ...each, value: { kind: Kind.STRING, value: text } } : each,
      ),
    };
  };

  const document: DocumentNode = visit(supergraph, {
    ObjectTypeDefinition(type) {
      const own = variants.filter((each) => each.type === type.name.value);
      if (own.length === 0) return undefined;
      const isOwn = (field: FieldDefinitionNode) => own.some((each) => each.field.name.value === field.name.value);
      const fields = (type.fields ?? []).map((field) => ({
        ...field,
        directives: field.directives
          ?.filter((each) => !(isOwn(field) && isExternal(each)))
          .map((each) => requireVariants(type.name.value, field.name.value, each)),
      }));
      const added = own.map(({ field, name, graphs }) => ({
        ...field,
        name: { ...field.name, value: name },
        arguments: [],
        directives: field.directives?.filter((each) => !isExternal(each) || graphs.has(graphOf(each))),
      }));
      return { ...type, fields: [...fields, ...added] };
    },
  });

  const byName = new Map(variants.map((each) => [each.name, each]));
  const needsOf = (type: string, field: string) => needs.get(`${type}.${field}`) ?? new Set<string>();
  const restored = (fetch: FetchNode): PlanNode => {
    const nodes = splitFetch(fetch, byName, needsOf).map((each) => restoreFetch(each, byName));
    return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: 'Sequence', nodes };
  };
  return { document, restore: (plan) => replaceFetches(plan, restored) };
}

/** Finds the fields of a type that are required with several sets of arguments. `taken` holds the variant names already in use. */
function variantsOf(type: ObjectTypeDefinitionNode, taken: Set<string>): RequiredVariant[] {
  const fields = new Map(type.fields?.map((field) => [field.name.value, field]));
  const required = new Map<string, Map<string, { node: FieldNode; graphs: Set<string> }>>();
  for (const { directives = [] } of fields.values())
    for (const directive of directives)
      for (const node of selectionOf(directive)?.selections ?? []) {
        if (node.kind !== Kind.FIELD || !node.arguments?.length || node.selectionSet) continue;
        const sets = required.get(node.name.value) ?? new Map<string, { node: FieldNode; graphs: Set<string> }>();
        const { graphs } = sets.get(print(node)) ?? { graphs: new Set() };
        required.set(node.name.value, sets.set(print(node), { node, graphs: graphs.add(graphOf(directive)) }));
      }
  return [...required].flatMap(([name, sets]) => {
    const field = fields.get(name);
    if (!field || sets.size < 2) return [];
    return [...sets.values()].map(({ node, graphs }, index) => {
      let free = `${name}_required_${index}`;
      while (fields.has(free) || taken.has(free)) free += '_';
      taken.add(free);
      return { type: type.name.value, field, node, graphs, name: free };
    });
  });
}

const valueOf = ({ arguments: args = [] }: ConstDirectiveNode, name: string) =>
  args.find((each) => each.name.value === name)?.value;

function isExternal(directive: ConstDirectiveNode): boolean {
  const external = valueOf(directive, 'external');
  return external?.kind === Kind.BOOLEAN && external.value;
}

function graphOf(directive: ConstDirectiveNode): string {
  const graph = valueOf(directive, 'graph');
  return graph?.kind === Kind.ENUM ? graph.value : '';
}

/** The `requires` selection of a `@join__field`. */
function selectionOf(directive: ConstDirectiveNode): SelectionSetNode | undefined {
  const value = valueOf(directive, 'requires');
  if (directive.name.value !== 'join__field' || value?.kind !== Kind.STRING) return undefined;
  const [first] = parse(`{${value.value}}`, { noLocation: true }).definitions;
  return first?.kind === Kind.OPERATION_DEFINITION ? first.selectionSet : undefined;
}

const isSame = (variant: FieldNode, node: SelectionSetNode['selections'][number]) =>
  node.kind === Kind.FIELD && !node.selectionSet && print(node) === print(variant);

/** Splits a fetch according to the variants that its fields require. */
function splitFetch(
  fetch: FetchNode,
  byName: ReadonlyMap<string, RequiredVariant>,
  needsOf: (type: string, field: string) => ReadonlySet<string>,
): FetchNode[] {
  const required = new Set(variantNames(fetch.requires ?? [], byName));
  const fields = new Set([...required].map((name) => byName.get(name)?.node.name.value));
  if (fields.size === required.size) return [fetch]; // no field in several variants
  const document = parse(fetch.operation, { noLocation: true });
  const groups = new Map<string, ReadonlySet<string>>();
  const groupOf = (type: string, field: string) => {
    const needed = new Set([...needsOf(type, field)].filter((name) => required.has(name)));
    return { key: [...needed].toSorted().join(' '), needed };
  };
  visitEntityFields(document, (type, field) => {
    const { key, needed } = groupOf(type, field);
    if (key !== '') groups.set(key, needed);
    return true;
  });
  const [firstKey] = groups.keys();
  return [...groups].map(([own, needed]) => {
    const requested = visitEntityFields(document, (type, field) => {
      const { key } = groupOf(type, field);
      return key === own || (key === '' && own === firstKey);
    });
    const used = usedVariables(requested);
    return {
      ...fetch,
      ...(fetch.variableUsages && { variableUsages: fetch.variableUsages.filter((name) => used.has(name)) }),
      requires: fetch.requires && withoutOthers(fetch.requires, byName, needed),
      // Services reject operations with unused variables.
      operation: print(
        visit(requested, { VariableDefinition: ({ variable }) => (used.has(variable.name.value) ? undefined : null) }),
      ),
    };
  });
}

function usedVariables(document: DocumentNode): ReadonlySet<string> {
  const used = new Set<string>();
  visit(document, { VariableDefinition: () => false, Variable: ({ name }) => void used.add(name.value) });
  return used;
}

/** Filters the selected fields of entities. */
function visitEntityFields(document: DocumentNode, keep: (type: string, field: string) => boolean): DocumentNode {
  return visit(document, {
    Field(field) {
      if (field.name.value !== '_entities' || !field.selectionSet) return undefined;
      const selections = field.selectionSet.selections.flatMap((fragment) => {
        if (fragment.kind !== Kind.INLINE_FRAGMENT) return fragment;
        const type = fragment.typeCondition?.name.value ?? '';
        const kept = fragment.selectionSet.selections.filter(
          (node) => node.kind !== Kind.FIELD || keep(type, node.name.value),
        );
        return kept.length > 0 ? { ...fragment, selectionSet: { ...fragment.selectionSet, selections: kept } } : [];
      });
      return { ...field, selectionSet: { ...field.selectionSet, selections } };
    },
  });
}

function variantNames(
  selections: readonly QueryPlanSelectionNode[],
  byName: ReadonlyMap<string, RequiredVariant>,
): string[] {
  return selections.flatMap((node) =>
    node.kind === 'InlineFragment' ? variantNames(node.selections, byName) : byName.has(node.name) ? node.name : [],
  );
}

function withoutOthers(
  selections: readonly QueryPlanSelectionNode[],
  byName: ReadonlyMap<string, RequiredVariant>,
  needed: ReadonlySet<string>,
): QueryPlanSelectionNode[] {
  return selections.flatMap((node) => {
    if (node.kind === 'InlineFragment') return { ...node, selections: withoutOthers(node.selections, byName, needed) };
    return byName.has(node.name) && !needed.has(node.name) ? [] : node;
  });
}

/** Requests the original field with the variant's name as alias, and renames it in representations. */
function restoreFetch(fetch: FetchNode, byName: ReadonlyMap<string, RequiredVariant>): FetchNode {
  const requested = visit(parse(fetch.operation, { noLocation: true }), {
    Field(field) {
      const variant = byName.get(field.name.value);
      return variant && { ...variant.node, alias: { kind: Kind.NAME, value: (field.alias ?? field.name).value } };
    },
  });
  const renamed = [...new Set(variantNames(fetch.requires ?? [], byName))].flatMap((name) => {
    const variant = byName.get(name);
    if (!variant) return [];
    return {
      kind: 'KeyRenamer' as const,
      path: [`... on ${variant.type}`, name],
      renameKeyTo: variant.node.name.value,
    };
  });
  return {
    ...fetch,
    operation: print(requested),
    ...(renamed.length > 0 && { inputRewrites: [...(fetch.inputRewrites ?? []), ...renamed] }),
  };
}
