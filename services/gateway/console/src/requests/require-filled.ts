import { TaskmeshError } from '@taskmesh/client';

/** Nothing is sent that lacks what is always needed. @throws TaskmeshError as the server's, with a sentence for each empty field */
export function requireFilled<Name extends string>(
  values: Partial<Record<Name, string>>,
  sentences: Record<Name, string>,
): void {
  const all = Object.entries<string>(sentences).map(([path, message]) => ({ path, message }));
  const issues = all.filter(({ path }) => !values[path as Name]?.trim()); // its own names
  if (issues.length === 0) return;
  throw new TaskmeshError('BAD_USER_INPUT', issues.map(({ message }) => message).join(' '), { issues });
}
