import { badUserInput } from '@taskmesh/contracts';

export const listOf = (names: readonly string[]): string =>
  `There ${names.length === 1 ? 'is' : 'are'}: ${names.join(', ')}.`;

/** For our own paths: an unknown parameter may be a misspelt one. @throws AppError BAD_USER_INPUT */
export function refuseOthers(query: unknown, names: readonly string[]): void {
  const strange = Object.keys(query ?? {}).some((name) => name !== '' && !names.includes(name));
  if (strange) throw badUserInput([], `A query parameter is none of this path. ${listOf(names)}`);
}
