/** Variables and what their inputs hold; what is deeper, or goes in circles, is for JSON itself. */
const MAX_LEVELS = 3;

/**
 * What is left of a value once it has travelled as JSON: a copy without anything undefined, with dates as text.
 * @throws TypeError for what JSON has no form for
 */
export function asJson<Value>(value: Value): Value {
  if (isCarriedAsItIs(value)) return value;
  const copy = isPlain(value) ? copyOf(value, MAX_LEVELS) : undefined;
  if (copy) return copy as Value;
  const text = JSON.stringify(value) as string | undefined; // undefined for functions and symbols, which its type leaves out
  return (text === undefined ? undefined : JSON.parse(text)) as Value; // as far as a type can say it
}

function isCarriedAsItIs(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  return Object.getOwnPropertySymbols(value).length === 0;
}

/** Most are the variables of a request: without the way over text, they cost next to nothing. Undefined for what needs it. */
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
