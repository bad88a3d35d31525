/**
 * What is left of a value once it has travelled as JSON: a copy without anything undefined, with dates as text.
 * @throws TypeError for what JSON has no form for
 */
export function asJson<Value>(value: Value): Value {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value;
  const text = JSON.stringify(value) as string | undefined; // undefined for functions and symbols, which its type leaves out
  return (text === undefined ? undefined : JSON.parse(text)) as Value; // as far as a type can say it
}
