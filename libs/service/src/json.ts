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

/** What a value becomes when it is sent as JSON. @throws TypeError for values that JSON cannot express */
export const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value; // as far as a type can say it
