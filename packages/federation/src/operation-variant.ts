import { executeSync, GraphQLError, Kind, visit, type FieldNode, type SelectionSetNode } from 'graphql';
import type { Step } from './execution/compile-fetch.ts';
import { compilePlan } from './execution/compile-plan.ts';
import type { IsOfType } from './execution/type-conditions.ts';
import type { FederatedGraph } from './supergraph.ts';
import type { ClientOperation } from './operation/client-operation.ts';
import { keepLiteralsExact } from './operation/exact-literals.ts';
import { createFieldVariants } from './operation/field-variants.ts';
import { normalise } from './operation/normal-form.ts';
import { collectRootFields, planProjection, type FieldPlan, type ObjectPlan } from './projection/projection-plan.ts';

export interface VariantDeps {
  graph: FederatedGraph;
  isOfType: IsOfType;
  /** A prefix with which no field name begins. */
  prefix: string;
  resized: (bytes: number) => void;
}

/** The most memory used per field of the result, and per character of a fetch (measured). */
const FIELD_BYTES = 1_200;
const FETCH_BYTES = 12;
const VARIANT_BYTES = 4_096;

/** An operation for one combination of `@skip` and `@include` values. */
export interface OperationVariant<Context> {
  parts: readonly Part<Context>[];
  introspections: ReadonlyMap<FieldPlan, Introspect>;
  /** Stops counting its memory, which grows with each object type that is first encountered. */
  release: () => void;
}

/** Root fields that share a plan: all fields of a query, but each field of a mutation alone, because they run in order. */
export interface Part<Context> {
  plan: ObjectPlan;
  /** Absent when no service is needed. */
  fetch: Step<Context> | undefined;
}

export function compileVariant<Context>(
  deps: VariantDeps,
  operation: ClientOperation,
  conditions: Record<string, unknown>,
): OperationVariant<Context> {
  const variants = createFieldVariants(deps.graph.requiredWithArguments, deps.prefix);
  let bytes = VARIANT_BYTES;
  let isCounted = false;
  const grow = (more: number) => {
    bytes += more;
    if (isCounted) deps.resized(more);
  };
  const release = () => {
    isCounted = false;
    deps.resized(-bytes);
  };
  const rootFields = collectRootFields(operation, conditions);
  const groups: [string, readonly FieldNode[]][][] =
    operation.definition.operation === 'mutation' ? [...rootFields].map((field) => [field]) : [[...rootFields]];

  // Must run before the projection is planned: it assigns the field keys (`variants`) that the projection uses.
  const compilePart = (group: [string, readonly FieldNode[]][]) => {
    const nodes = group.flatMap(([, fields]) => fields);
    const normal = normalise(operation, conditions, variants, nodes);
    if (!normal) return undefined;
    const compileDeps = { isOfType: deps.isOfType, renamed: normal.renamed };
    const literals = keepLiteralsExact(deps.graph.schema, normal.document);
    const { node } = literals.restore(deps.graph.plan(literals.document));
    grow(FETCH_BYTES * JSON.stringify(node ?? null).length);
    // The planner returns an empty plan when no service can provide the selection.
    if (!node) throw new GraphQLError('The services of this graph cannot provide the selected fields.');
    if (node.kind === 'Subscription')
      throw new Error('This executor runs a subscription by a plan for its events only.');
    return compilePlan<Context>(node, compileDeps);
  };
  const fetches = groups.map(compilePart);

  const planned = (fields: number) => grow(FIELD_BYTES * fields);
  const rootPlan = planProjection({ operation, variables: conditions, variants, planned }, rootFields);
  let from = 0;
  const parts = groups.map((group, index) => {
    const to = from + group.length;
    const part = {
      plan: { ...rootPlan, fields: rootPlan.fields.slice(from, to) },
      fetch: fetches[index],
    };
    from = to;
    return part;
  });
  const introspections = new Map<FieldPlan, Introspect>();
  for (const field of rootPlan.fields)
    if (field.source.kind === 'introspection')
      introspections.set(field, compileIntrospection(operation, field.source.nodes));
  isCounted = true;
  deps.resized(bytes); // not before, because a variant that cannot be planned is not kept
  return { parts, introspections, release };
}

/** Resolves a `__schema` or `__type` field. */
type Introspect = (variables: Readonly<Record<string, unknown>>) => unknown;

/** Results are not cached: they are large, and clients rarely repeat the query. */
function compileIntrospection(
  { schema, definition, fragments }: ClientOperation,
  nodes: readonly FieldNode[],
): Introspect {
  const used = new Set<string>();
  for (const node of [...nodes, ...Object.values(fragments)])
    visit(node, { Variable: ({ name }) => void used.add(name.value) });
  const selectionSet: SelectionSetNode = { kind: Kind.SELECTION_SET, selections: nodes };
  const variableDefinitions = (definition.variableDefinitions ?? []).filter(({ variable }) =>
    used.has(variable.name.value),
  );
  const introspection = {
    ...definition,
    operation: 'query' as typeof definition.operation,
    variableDefinitions,
    selectionSet,
  };
  const document = { kind: Kind.DOCUMENT, definitions: [introspection, ...Object.values(fragments)] } as const;
  const key = nodes[0]?.alias?.value ?? nodes[0]?.name.value ?? '';
  return (variableValues) => executeSync({ schema, document, rootValue: {}, variableValues }).data?.[key] ?? null;
}
