import type { FetchNode, PlanNode, QueryPlan } from '@apollo/query-planner';
import { Kind, parse, print, type FieldNode } from 'graphql';
import type { Step } from './execution/compile-fetch.ts';
import { compilePlan } from './execution/compile-plan.ts';
import type { IsOfType } from './execution/type-conditions.ts';
import type { FederatedGraph } from './federated-executor.ts';
import { compileIntrospection, type Introspect } from './introspection.ts';
import type { ClientOperation } from './operation/client-operation.ts';
import { createFieldVariants } from './operation/field-variants.ts';
import { normalise } from './operation/normal-form.ts';
import { blankOf } from './projection/build-value.ts';
import { collectRootFields, planProjection, type FieldPlan, type ObjectPlan } from './projection/projection-plan.ts';
import { fieldWriters, type FieldWriter } from './projection/write-text.ts';

export interface VariantDeps {
  graph: FederatedGraph;
  isOfType: IsOfType;
  /** No field's name begins with it. */
  prefix: string;
}

/** An operation for one answer to its `@skip` and `@include`. */
export interface OperationVariant<Context> {
  parts: readonly Part<Context>[];
  introspections: ReadonlyMap<FieldPlan, Introspect>;
  /** The one fetch that there is, when its answer is the client's result, key by key. */
  alone: FetchNode | undefined;
  /** All keys of the result, without values. */
  blank: Readonly<Record<string, undefined>>;
}

/** Root fields with a plan of their own: all of a query, each single one of a mutation, so that one ends before the next begins. */
export interface Part<Context> {
  plan: ObjectPlan;
  writers: readonly FieldWriter[];
  /** Absent when no service is asked anything. */
  fetch: Step<Context> | undefined;
  /** What a subscription's events have to bring. */
  primary: FetchNode | undefined;
}

export function compileVariant<Context>(
  deps: VariantDeps,
  operation: ClientOperation,
  conditions: Record<string, unknown>,
): OperationVariant<Context> {
  const variants = createFieldVariants(deps.graph.requiredWithArguments, deps.prefix);
  const rootFields = collectRootFields({ operation, variables: conditions, variants });
  const groups: [string, readonly FieldNode[]][][] =
    operation.definition.operation === 'mutation' ? [...rootFields].map((field) => [field]) : [[...rootFields]];

  // The planner's names for fields are settled here, before the projection asks for them.
  const compilePart = (group: [string, readonly FieldNode[]][]) => {
    const nodes = group.flatMap(([, fields]) => fields);
    const normal = normalise(operation, conditions, variants, nodes);
    if (!normal) return { fetch: undefined, primary: undefined, alone: undefined };
    const compileDeps = { isOfType: deps.isOfType, renamed: normal.renamed };
    const { primary, rest } = splitPlan(deps.graph.plan(normal.document));
    const alone = isResult(rest, operation) && normal.renamed.size === 0 ? rest : undefined;
    return { primary, alone, fetch: rest && compilePlan<Context>(rest, compileDeps) };
  };
  const fetches = groups.map(compilePart);

  const rootPlan = planProjection({ operation, variables: conditions, variants }, rootFields);
  const writers = fieldWriters(rootPlan);
  let from = 0;
  const parts = groups.map((group, index) => {
    const to = from + group.length;
    const part = {
      plan: { ...rootPlan, fields: rootPlan.fields.slice(from, to) },
      writers: writers.slice(from, to),
      fetch: fetches[index]?.fetch,
      primary: fetches[index]?.primary,
    };
    from = to;
    return part;
  });
  const introspections = new Map<FieldPlan, Introspect>();
  for (const field of rootPlan.fields)
    if (field.source.kind === 'introspection')
      introspections.set(field, compileIntrospection(operation, field.source.nodes));
  const alone = parts.length === 1 ? fetches[0]?.alone : undefined;
  return { parts, introspections, alone, blank: blankOf(rootPlan) };
}

function splitPlan({ node }: QueryPlan) {
  if (node?.kind === 'Subscription') return { primary: node.primary, rest: node.rest };
  return { primary: undefined, rest: node };
}

/** Asks for exactly what the client asks for. */
function isResult(node: PlanNode | undefined, { definition }: ClientOperation): node is FetchNode {
  if (node?.kind !== 'Fetch' || node.requires?.length || node.outputRewrites?.length) return false;
  const [fetched] = parse(node.operation, { noLocation: true }).definitions;
  if (fetched?.kind !== Kind.OPERATION_DEFINITION) return false;
  return print(fetched.selectionSet) === print(definition.selectionSet);
}
