import { clientErrors } from './client-errors.ts';
import type { ServiceError } from './execution/errors.ts';
import type { AskSubgraph, PlanRun } from './execution/run.ts';
import type { OperationVariant, Part } from './operation-variant.ts';
import { buildField, type BuildRun, type Incompleteness } from './projection/build-value.ts';
import type { TextRun } from './projection/write-json.ts';
import { unexplained } from './unexplained.ts';

export interface OperationRequest<Context> {
  /** Coerced to the operation's types, with its defaults. */
  variables: Readonly<Record<string, unknown>>;
  /** Passed on to `AskSubgraph`. */
  context: Context;
}

export interface Failures {
  /** Errors of services, at the places where the client sees them. */
  errors: readonly ServiceError[];
  /** What services omitted, and no error explains. */
  incomplete: readonly Incompleteness[];
}

export interface TextResult extends Failures {
  /** The data as JSON. */
  text: string;
}

export interface ObjectResult extends Failures {
  data: Record<string, unknown> | null;
}

export interface Running<Context> {
  variant: OperationVariant<Context>;
  request: OperationRequest<Context>;
  ask: AskSubgraph<Context>;
}

const NONE: readonly never[] = [];

export async function runForText<Context>(running: Running<Context>): Promise<TextResult> {
  const { variant, request } = running;
  const run: TextRun = {
    isIncomplete: false,
    introspect: (field) => JSON.stringify(variant.introspections.get(field)?.(request.variables) ?? null),
  };
  const fetched: PlanRun<Context>[] = [];
  let text = '{';
  for (const part of variant.parts) {
    const from = await fetchPart(part, running, fetched);
    for (const { label, write } of part.writers) {
      const field = write(from.data, run);
      if (field === '') return { text: 'null', ...failures(variant, fetched, run.isIncomplete) };
      text += label + field;
    }
  }
  return { text: `${text}}`, ...failures(variant, fetched, run.isIncomplete) };
}

export async function runForObject<Context>(running: Running<Context>): Promise<ObjectResult> {
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
      if (value === undefined) return { data: null, ...failures(variant, fetched, true) };
      result[field.key] = value;
    }
  }
  return { data: result, ...failures(variant, fetched, run.incomplete.length > 0) };
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
  isIncomplete: boolean,
): Failures {
  let errors: ServiceError[] | undefined;
  for (const [index, run] of fetched.entries()) {
    const plan = parts[index]?.plan;
    if (!plan || run.errors.length === 0) continue;
    errors ??= [];
    errors.push(...clientErrors(run.errors, plan, run.data));
  }
  const incomplete = isIncomplete ? incompleteness(parts, fetched) : NONE;
  if (!errors) return { errors: NONE, incomplete };
  return { errors, incomplete: unexplained(incomplete, errors) };
}

/** Finds out what was wrong by building the objects that could not be written. */
function incompleteness<Context>(
  parts: readonly Part<Context>[],
  fetched: readonly PlanRun<Context>[],
): readonly Incompleteness[] {
  const run: BuildRun = { path: [], incomplete: [], introspect: () => null };
  for (const [index, { data }] of fetched.entries()) {
    const plan = parts[index]?.plan;
    for (const field of plan?.fields ?? [])
      if (buildField(field, plan?.typeName ?? '', data, run) === undefined) return run.incomplete;
  }
  return run.incomplete;
}
