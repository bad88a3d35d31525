import { clientErrors } from './client-errors.ts';
import type { AskSubgraph, PlanRun, ServiceError } from './execution/run.ts';
import type { OperationVariant, Part } from './operation-variant.ts';
import { buildField, type BuildRun, type Incompleteness } from './projection/build-value.ts';

export interface OperationRequest<Context> {
  /** Coerced to the operation's types, with defaults applied. */
  variables: Readonly<Record<string, unknown>>;
  /** Passed on to `AskSubgraph`. */
  context: Context;
}

export interface Failures {
  /** Errors of services, with paths in the client's result. */
  errors: readonly ServiceError[];
  /** Values that services omitted and that no error explains. */
  incomplete: readonly Incompleteness[];
}

export interface OperationResult extends Failures {
  data: Record<string, unknown> | null;
}

export interface Running<Context> {
  variant: OperationVariant<Context>;
  request: OperationRequest<Context>;
  ask: AskSubgraph<Context>;
}

const NONE: readonly never[] = [];

export async function runOperation<Context>(running: Running<Context>): Promise<OperationResult> {
  const { variant, request } = running;
  const run: BuildRun = {
    path: [],
    incomplete: [],
    introspect: (field) => variant.introspections.get(field)?.(request.variables) ?? null,
  };
  const fetched: PlanRun<Context>[] = [];
  const result: Record<string, unknown> = { ...variant.blank };
  for (const part of variant.parts) {
    const from = await fetchPart(part, running, fetched);
    for (const field of part.plan.fields) {
      const value = buildField(field, part.plan.typeName, from.data, run);
      if (value === undefined) return { data: null, ...failures(variant, fetched, run.incomplete) };
      result[field.key] = value;
    }
  }
  return { data: result, ...failures(variant, fetched, run.incomplete) };
}

async function fetchPart<Context>(
  part: Part<Context>,
  { request, ask }: Running<Context>,
  fetched: PlanRun<Context>[],
): Promise<PlanRun<Context>> {
  const { variables, context } = request;
  const run: PlanRun<Context> = { ask, context, variables, data: {}, errors: [] };
  fetched.push(run);
  await part.fetch?.(run);
  return run;
}

function failures<Context>(
  { parts }: OperationVariant<Context>,
  fetched: readonly PlanRun<Context>[],
  incomplete: readonly Incompleteness[],
): Failures {
  const errors = fetched.flatMap((run, index): readonly ServiceError[] => {
    const plan = parts[index]?.plan;
    return plan && run.errors.length > 0 ? clientErrors(run.errors, plan, run.data) : NONE;
  });
  if (errors.length === 0) return { errors: NONE, incomplete };
  return { errors, incomplete: unexplained(incomplete, errors) };
}

/**
 * Keeps only the omissions that no error explains. An error explains everything missing at its path, below it and beside it,
 * because a service omits the whole object if a non-null field fails. An error without a path may explain anything.
 */
function unexplained(
  incomplete: readonly Incompleteness[],
  errors: readonly ServiceError[],
): readonly Incompleteness[] {
  if (incomplete.length === 0) return incomplete;
  const failed = new Set(errors.map(({ path = [] }) => JSON.stringify(path)));
  const leading = new Set(errors.flatMap(({ path = [] }) => startsOf(path)));
  return incomplete.filter(({ path }) => {
    const around = path.slice(0, -1);
    return !leading.has(JSON.stringify(around)) && !startsOf(around).some((start) => failed.has(start));
  });
}

/** The path itself and all its prefixes. */
function startsOf(path: Incompleteness['path']): string[] {
  return [...path, ''].map((_step, length) => JSON.stringify(path.slice(0, length)));
}
