import { TaskmeshError } from '@taskmesh/client';

/** The error, unless all of its issues are shown beside these fields. */
export function otherThan(fields: readonly string[], error: unknown): unknown {
  if (!(error instanceof TaskmeshError) || error.issues.length === 0) return error;
  const hasPlace = error.issues.every(({ path }) => fields.includes(path.split('.').at(-1) ?? ''));
  return hasPlace ? undefined : error;
}
