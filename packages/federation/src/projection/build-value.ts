import type { Data } from '../execution/data-paths.ts';
import type { FieldPlan, Leaf, ObjectPlan, Slot } from './projection-plan.ts';
import { isExactInteger } from '../exact-json.ts';
import { FAILURE_SIZE, take, takeContent, VALUE_SIZE, type Room } from '../result-size.ts';

/** A value that does not conform to the schema. */
export interface Incompleteness {
  message: string;
  path: (string | number)[];
}

export interface BuildRun {
  path: (string | number)[];
  incomplete: Incompleteness[];
  room: Room;
  /** The values of introspection fields. */
  described: Map<FieldPlan, unknown>;
}

type Step = string | number;

/** Builds a field of the result, and records why values are null. Returns undefined if a non-null field would be null. */
export function buildField(field: FieldPlan, object: Data, run: BuildRun): unknown {
  const { source, key } = field;
  if (source.kind === 'data') {
    const value = Object.hasOwn(object, source.from) ? object[source.from] : undefined;
    return buildSlot(source.slot, value, key, run);
  }
  if (source.kind === 'type name') return source.known ?? fail('The type of an object is not known.', key, run);
  return run.described.get(field) ?? null;
}

/** `step` leads from `run.path` to the value. */
function buildSlot(slot: Slot, value: unknown, step: Step, run: BuildRun): unknown {
  if (typeof value === 'string') take(run.room, value.length);
  if (value !== null && value !== undefined) {
    const built = buildValue(slot, value, step, run);
    return built === undefined && !slot.isNonNull ? null : built;
  }
  return slot.isNonNull ? fail(`Cannot return null for non-nullable ${placeOf(slot, step)}.`, step, run) : null;
}

function buildValue(slot: Slot, value: unknown, step: Step, run: BuildRun): unknown {
  const plan = slot.value;
  switch (plan.kind) {
    case 'leaf':
      if (typeof value === 'object') takeContent(run.room, value as object);
      return leafValue(plan.leaf, value) ?? fail(`Invalid value found for ${placeOf(slot, step)}.`, step, run);
    case 'list':
      if (Array.isArray(value)) return buildList(plan.item, value, step, run);
      return fail(`Invalid non-list value found for ${placeOf(slot, step)}.`, step, run);
    case 'object':
    case 'abstract': {
      const object = plan.kind === 'object' ? plan.object : plan.planOf((value as Data).__typename);
      if (!object) return fail(`Invalid __typename found for object at ${placeOf(slot, step)}.`, step, run);
      if (typeof value === 'object' && !Array.isArray(value)) return buildObject(object, value as Data, step, run);
      return fail(`Invalid value found for ${placeOf(slot, step)}.`, step, run);
    }
  }
}

const placeOf = ({ place }: Slot, step: Step) => (typeof step === 'number' ? `${place} at index ${step}` : place);

function buildList(item: Slot, values: readonly unknown[], step: Step, run: BuildRun): unknown {
  take(run.room, VALUE_SIZE * values.length);
  run.path.push(step);
  const items: unknown[] = [];
  let isWhole = true;
  for (let index = 0; isWhole && index < values.length; index++) {
    const built = buildSlot(item, values[index], index, run);
    isWhole = built !== undefined;
    items.push(built);
  }
  run.path.pop();
  return isWhole ? items : undefined;
}

function buildObject({ fields, size, shape }: ObjectPlan, object: Data, step: Step, run: BuildRun): unknown {
  take(run.room, size);
  run.path.push(step);
  const result = { ...shape };
  const isWhole = fields.every((field) => {
    const built = buildField(field, object, run);
    result[field.key] = built;
    return built !== undefined;
  });
  run.path.pop();
  return isWhole ? result : undefined;
}

/** A service may omit tens of thousands. Further ones only count in `Room`. */
const MAX_INCOMPLETE = 1_000;

function fail(message: string, step: Step, { room, incomplete, path }: BuildRun): undefined {
  take(room, FAILURE_SIZE);
  if (incomplete.length < MAX_INCOMPLETE) incomplete.push({ message, path: [...path, step] });
  return undefined;
}

const MAX_INT = 2_147_483_647;
const MIN_INT = -2_147_483_648;

/** The value as sent to the client; undefined when it is not valid for the type. */
function leafValue(leaf: Leaf, value: unknown): unknown {
  if (typeof leaf === 'object') return leaf.has(value as string) ? value : undefined; // a set's elements are strings
  switch (leaf) {
    case 'String':
      return typeof value === 'string' ? value : undefined;
    case 'ID':
      return typeof value === 'string' ? value : idOf(value);
    case 'Int':
      return isInt(value) ? value : undefined;
    case 'Float':
      return floatOf(value);
    case 'Boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'custom':
      return value === Infinity || value === -Infinity ? undefined : value; // 1e999 in JSON
  }
}

function idOf(value: unknown): string | undefined {
  if (Number.isInteger(value)) return String(value);
  return isExactInteger(value) ? value.rawJSON : undefined;
}

function floatOf(value: unknown): number | undefined {
  const number = isExactInteger(value) ? Number(value.rawJSON) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

function isInt(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) <= MAX_INT && (value as number) >= MIN_INT;
}
