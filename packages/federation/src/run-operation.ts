import { parse, visit } from 'graphql';
import type { AskSubgraph, PlanRun, ServiceError, SubgraphOperation } from './execution/run.ts';
import type { OperationVariant } from './operation-variant.ts';
import { buildField, type BuildRun, type Incompleteness } from './projection/build-value.ts';
import { absentFields, clientPaths } from './projection/client-paths.ts';
import type { ObjectPlan } from './projection/projection-plan.ts';
import { createRoom, ResultTooLarge, takeContent, takePlaces } from './result-size.ts';

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

/** Runs work that takes milliseconds of CPU time when its turn comes. May reject instead. */
export type Schedule<Context> = <Result>(context: Context, work: () => Result) => Promise<Result>;

export interface Running<Context> {
  variant: OperationVariant<Context>;
  request: OperationRequest<Context>;
  ask: AskSubgraph<Context>;
  schedule: Schedule<Context>;
}

const NONE: readonly never[] = [];

export const runOperation = <Context>(running: Running<Context>): Promise<OperationResult> =>
  buildResult(running).catch((cause: unknown) => {
    if (!(cause instanceof ResultTooLarge)) throw cause;
    const { message, extensions } = cause;
    return { data: null, errors: [{ message, extensions, cause }], incomplete: NONE };
  });

/** @throws ResultTooLarge */
async function buildResult<Context>(running: Running<Context>): Promise<OperationResult> {
  const { variant, request, ask, schedule } = running;
  const room = createRoom();
  const run: BuildRun = {
    path: [],
    incomplete: [],
    room,
    described: new Map(),
  };
  const describe = () => {
    for (const [field, introspect] of variant.introspections) {
      const described = introspect(request.variables) as object | null;
      if (described) takeContent(room, described);
      run.described.set(field, described);
    }
  };
  let errors: readonly ServiceError[] = NONE;
  const result: Record<string, unknown> = { ...variant.parts[0]?.plan.shape };
  for (const { fetch, plan } of variant.parts) {
    const from: PlanRun<Context> = { ...request, ask, room, data: {}, errors: [] };
    await fetch?.(from);
    // The caller chooses when an operation begins, but not when a service has answered.
    if (variant.introspections.size > 0) await (fetch ? schedule(request.context, describe) : describe());
    if (from.errors.length > 0) errors = [...errors, ...clientErrors(from, plan)];
    for (const field of plan.fields) {
      const value = buildField(field, from.data, run);
      if (value === undefined) return { data: null, errors, incomplete: unexplained(run.incomplete, errors) };
      result[field.key] = value;
    }
  }
  return { data: result, errors, incomplete: unexplained(run.incomplete, errors) };
}

/** How many fields get their own error when requests fail as a whole. Further fields are covered by one error without a path. */
const MAX_LOCATIONS = 100;

/** Returns the errors of a plan's run with their paths in the client's result. */
function clientErrors<Context>({ errors, data, room }: PlanRun<Context>, plan: ObjectPlan): ServiceError[] {
  const unplaced = errors.filter(({ path }) => !path);
  const absent = unplaced.length > 0 ? absentFields(plan, data, MAX_LOCATIONS + 1) : [];
  const [first, ...others] = unplaced;
  /** The failed request that should have returned the field; otherwise the first, on which the field's request may have depended. */
  const causeOf = (from: string) =>
    others.length === 0 ? first : (unplaced.find(({ operation }) => requestedKeys(operation).has(from)) ?? first);
  const places = absent.slice(0, MAX_LOCATIONS).map(({ path, from }) => ({ path, cause: causeOf(from) }));

  return errors.flatMap((error) => {
    const { path, operation: _operation, ...rest } = error;
    if (path) {
      const paths = clientPaths(plan, data, path);
      takePlaces(room, paths, error);
      return paths.map((at) => (at.length > 0 ? { ...rest, path: at } : rest));
    }
    const own = places.filter(({ cause }) => cause === error);
    const placed: ServiceError[] = own.map((field) => ({ ...rest, path: field.path }));
    return placed.length === 0 || absent.length > MAX_LOCATIONS ? [...placed, rest] : placed;
  });
}

const keysByOperation = new WeakMap<SubgraphOperation, ReadonlySet<string>>();

/** All response keys of an operation on a service. */
function requestedKeys(operation: SubgraphOperation): ReadonlySet<string> {
  const known = keysByOperation.get(operation);
  if (known) return known;
  const keys = new Set<string>();
  visit(parse(operation.text, { noLocation: true }), {
    Field: ({ alias, name }) => void keys.add((alias ?? name).value),
  });
  keysByOperation.set(operation, keys);
  return keys;
}

/**
 * Keeps only the omissions that no error explains. An error explains everything missing at its path, below it and beside it,
 * because a service omits the whole object if a non-null field fails. An error without a path may explain anything.
 */
function unexplained(
  incomplete: readonly Incompleteness[],
  errors: readonly ServiceError[],
): readonly Incompleteness[] {
  if (incomplete.length === 0 || errors.length === 0) return incomplete;
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
