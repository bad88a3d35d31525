/** What a text says as JSON; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value of JSON is an object: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null says the same as a field that is not there. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Enough for variables and their inputs; deeper or circular values take the slow path. */
const MAX_LEVELS = 3;

/**
 * What a value becomes when it is sent as JSON: a copy without undefined fields, with dates as text.
 * @throws TypeError for values that JSON cannot express
 */
export function asJson<Value>(value: Value): Value {
  if (isCarriedAsItIs(value)) return value;
  const copy = isPlain(value) ? copyOf(value, MAX_LEVELS) : undefined;
  if (copy) return copy as Value;
  const text = JSON.stringify(value) as string | undefined; // its type omits undefined, for functions and symbols
  return (text === undefined ? undefined : JSON.parse(text)) as Value; // as far as a type can say it
}

function isCarriedAsItIs(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.getOwnPropertySymbols(value).length === 0;
}

/** A fast path without text for plain values, such as most variables; undefined for values that need JSON. */
function copyOf(value: Readonly<Record<string, unknown>>, levels: number): Record<string, unknown> | undefined {
  const copy = { ...value };
  for (const key in copy) {
    const field = copy[key];
    if (isCarriedAsItIs(field)) continue;
    const inner = levels > 1 && isPlain(field) ? copyOf(field, levels - 1) : undefined;
    if (!inner) return undefined;
    copy[key] = inner;
  }
  return copy;
}
