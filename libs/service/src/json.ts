/**
 * What is left of a value once it has travelled as JSON: a copy without anything undefined, with dates as text.
 * @throws TypeError for what JSON has no form for
 */
export function asJson<Value>(value: Value): Value {
  if (isCarriedAsItIs(value)) return value;
  if (isFlat(value)) return { ...value };
  const text = JSON.stringify(value) as string | undefined; // undefined for functions and symbols, which its type leaves out
  return (text === undefined ? undefined : JSON.parse(text)) as Value; // as far as a type can say it
}

function isCarriedAsItIs(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
}

/** Most are the variables of a request: without the way over text, they cost next to nothing. */
function isFlat(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const key in value) if (!isCarriedAsItIs((value as Record<string, unknown>)[key])) return false;
  return Object.getOwnPropertySymbols(value).length === 0;
}
