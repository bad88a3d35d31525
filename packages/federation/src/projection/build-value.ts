import type { Data } from '../execution/data-paths.ts';
import type { FieldPlan, Leaf, ObjectPlan, Slot, ValuePlan } from './projection-plan.ts';
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
  introspect: (field: FieldPlan) => unknown;
}

/** Builds a field of the result, and records why values are null. Returns undefined if a non-null field would be null. */
export function buildField(field: FieldPlan, parent: string, object: Data, run: BuildRun): unknown {
  const { source, key } = field;
  if (source.kind === 'introspection') {
    const described = run.introspect(field);
    if (typeof described === 'object' && described !== null) takeContent(run.room, described);
    return described;
  }
  run.path.push(key);
  const value = source.kind === 'type name' ? typeName(source.known, run) : dataField(source, parent, object, run);
  run.path.pop();
  return value;
}

function typeName(known: string | undefined, run: BuildRun): unknown {
  return known ?? fail('The type of an object is not known.', run);
}

function dataField({ from, slot }: { from: string; slot: Slot }, parent: string, object: Data, run: BuildRun): unknown {
  const value = Object.hasOwn(object, from) ? object[from] : undefined;
  return buildSlot(slot, value, () => `field ${parent}.${from}`, run);
}

function buildSlot(slot: Slot, value: unknown, place: () => string, run: BuildRun): unknown {
  if (typeof value === 'string') take(run.room, value.length);
  if (value !== null && value !== undefined) {
    const built = buildValue(slot.value, value, place, run);
    return built === undefined && !slot.isNonNull ? null : built;
  }
  return slot.isNonNull ? fail(`Cannot return null for non-nullable ${place()}.`, run) : null;
}

function buildValue(plan: ValuePlan, value: unknown, place: () => string, run: BuildRun): unknown {
  switch (plan.kind) {
    case 'leaf':
      if (typeof value === 'object') takeContent(run.room, value as object);
      return leafValue(plan.leaf, value) ?? fail(`Invalid value found for ${place()}.`, run);
    case 'list':
      return buildList(plan.item, value, place, run);
    case 'object':
      return buildObject(plan.object, value, place, run);
    case 'abstract': {
      const object = plan.planOf((value as Data).__typename);
      return object
        ? buildObject(object, value, place, run)
        : fail(`Invalid __typename found for object at ${place()}.`, run);
    }
  }
}

function buildList(item: Slot, value: unknown, place: () => string, run: BuildRun): unknown {
  if (!Array.isArray(value)) return fail(`Invalid non-list value found for ${place()}.`, run);
  take(run.room, VALUE_SIZE * value.length);
  const items: unknown[] = [];
  for (const [index, each] of value.entries()) {
    run.path.push(index);
    const built = buildSlot(item, each, () => `array element of type ${item.type} at index ${String(index)}`, run);
    run.path.pop();
    if (built === undefined) return undefined;
    items.push(built);
  }
  return items;
}

interface Shape {
  /** Setting all keys at once gives these objects one hidden class, and makes a key like `__proto__` an own property. */
  blank: Record<string, undefined>;
  /** What an object takes, without its texts and what it contains. */
  size: number;
}

const shapes = new WeakMap<ObjectPlan, Shape>();

export function shapeOf(plan: ObjectPlan): Shape {
  const known = shapes.get(plan);
  if (known) return known;
  const keys = plan.fields.map(({ key }) => key);
  const blank = Object.fromEntries(keys.map((key) => [key, undefined]));
  const shape = { blank, size: keys.reduce((size, key) => size + key.length + VALUE_SIZE, 0) };
  shapes.set(plan, shape);
  return shape;
}

function buildObject(plan: ObjectPlan, value: unknown, place: () => string, run: BuildRun): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return fail(`Invalid value found for ${place()}.`, run);
  const { blank, size } = shapeOf(plan);
  take(run.room, size);
  const result: Record<string, unknown> = { ...blank };
  for (const field of plan.fields) {
    const built = buildField(field, plan.typeName, value as Data, run);
    if (built === undefined) return undefined;
    result[field.key] = built;
  }
  return result;
}

function fail(message: string, run: BuildRun): undefined {
  take(run.room, FAILURE_SIZE);
  run.incomplete.push({ message, path: [...run.path] });
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
