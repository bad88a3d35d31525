import { GraphQLError, type FieldNode } from 'graphql';
import type { Step } from './execution/compile-fetch.ts';
import { compilePlan } from './execution/compile-plan.ts';
import type { IsOfType } from './execution/type-conditions.ts';
import type { FederatedGraph } from './supergraph.ts';
import { compileIntrospection, type Introspect } from './introspection.ts';
import type { ClientOperation } from './operation/client-operation.ts';
import { keepLiteralsExact } from './operation/exact-literals.ts';
import { createFieldVariants } from './operation/field-variants.ts';
import { normalise } from './operation/normal-form.ts';
import { blankOf } from './projection/build-value.ts';
import { collectRootFields, planProjection, type FieldPlan, type ObjectPlan } from './projection/projection-plan.ts';

export interface VariantDeps {
  graph: FederatedGraph;
  isOfType: IsOfType;
  /** No field name begins with it. */
  prefix: string;
  resized: (bytes: number) => void;
}

/** What is kept at most, measured: for a field of the result, and for a character of a fetch. */
const FIELD_BYTES = 1_200;
const FETCH_BYTES = 12;
const VARIANT_BYTES = 4_096;

/** An operation for one combination of `@skip` and `@include` values. */
export interface OperationVariant<Context> {
  parts: readonly Part<Context>[];
  introspections: ReadonlyMap<FieldPlan, Introspect>;
  /** All keys of the result, without values. */
  blank: Readonly<Record<string, undefined>>;
  /** The memory that it takes, which grows with each type that objects turn out to have. */
  bytes: () => number;
}

/** Root fields that share a plan: all of a query, but one of a mutation, so that each ends before the next begins. */
export interface Part<Context> {
  plan: ObjectPlan;
  /** Absent when no service has to be asked. */
  fetch: Step<Context> | undefined;
}

export function compileVariant<Context>(
  deps: VariantDeps,
  operation: ClientOperation,
  conditions: Record<string, unknown>,
): OperationVariant<Context> {
  const variants = createFieldVariants(deps.graph.requiredWithArguments, deps.prefix);
  let bytes = 0;
  const grow = (more: number) => {
    bytes += more;
    deps.resized(more);
  };
  grow(VARIANT_BYTES);
  const rootFields = collectRootFields(operation, conditions);
  const groups: [string, readonly FieldNode[]][][] =
    operation.definition.operation === 'mutation' ? [...rootFields].map((field) => [field]) : [[...rootFields]];

  // This settles the planner's names for fields, which the projection needs.
  const compilePart = (group: [string, readonly FieldNode[]][]) => {
    const nodes = group.flatMap(([, fields]) => fields);
    const normal = normalise(operation, conditions, variants, nodes);
    if (!normal) return undefined;
    const compileDeps = { isOfType: deps.isOfType, renamed: normal.renamed };
    const literals = keepLiteralsExact(deps.graph.schema, normal.document);
    const { node } = literals.restore(deps.graph.plan(literals.document));
    grow(FETCH_BYTES * JSON.stringify(node ?? null).length);
    // The planner returns an empty plan when no service can provide the selection.
    if (!node) throw new GraphQLError('The services of this graph cannot bring what the operation selects.');
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
  return { parts, introspections, blank: blankOf(rootPlan), bytes: () => bytes };
}
