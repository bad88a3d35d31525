/** Parses JSON; returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON value is an object: neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null means the same as a missing field. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Returns the value as the receiver of its JSON sees it. @throws TypeError for values that JSON cannot express */
export const asJson = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value; // the closest type
