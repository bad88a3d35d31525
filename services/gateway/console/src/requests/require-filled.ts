import { TaskmeshError } from '@taskmesh/client';

/** Rejects empty required fields before a request. @throws TaskmeshError like the server's, with an issue per empty field */
export function requireFilled<Name extends string>(
  values: Partial<Record<Name, string>>,
  sentences: Record<Name, string>,
): void {
  const all = Object.entries<string>(sentences).map(([path, message]) => ({ path, message }));
  const issues = all.filter(({ path }) => !values[path as Name]?.trim()); // the paths are the keys of `sentences`
  if (issues.length === 0) return;
  throw new TaskmeshError('BAD_USER_INPUT', issues.map(({ message }) => message).join(' '), { issues });
}
