import { parseArgs } from 'node:util';

/** The arguments are none that the benchmark knows. */
export class UsageProblem extends Error {}

/** The values of `texts` (each takes one) and `flags` (they take none); `help` is one of them. @throws UsageProblem */
export function parseOptions<Text extends string, Flag extends string>(
  args: string[],
  { texts, flags }: { texts: readonly Text[]; flags: readonly Flag[] },
): Partial<Record<Text, string> & Record<Flag | 'help', boolean>> {
  const options = Object.fromEntries([
    ...texts.map((name) => [name, { type: 'string' as const }]),
    ...flags.map((name) => [name, { type: 'boolean' as const }]),
    ['help', { type: 'boolean' as const, short: 'h' }],
  ]);
  try {
    return parseArgs({ args, options }).values as Partial<Record<Text, string> & Record<Flag | 'help', boolean>>; // as asked for above
  } catch (cause) {
    throw new UsageProblem(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

export function list<Name extends string>(option: string, given: string | undefined, all: readonly Name[]): Name[] {
  if (given === undefined) return [...all];
  const wanted = given.split(',').map((name) => name.trim());
  const unknown = wanted.filter((name) => !all.some((known) => known === name));
  if (unknown.length > 0) throw new UsageProblem(`${option} knows ${all.join(', ')} (not: ${unknown.join(', ')}).`);
  return all.filter((name) => wanted.includes(name));
}

export function number(option: string, given: string, range: { min: number; max: number; isWhole?: boolean }): number {
  const value = Number(given);
  const { min, max, isWhole = false } = range;
  if (!(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
    throw new UsageProblem(
      `${option} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max} (is: ${given}).`,
    );
  return value;
}

export function fileName(given: string | undefined): string | undefined {
  if (given !== undefined && !/^[\w.-]{1,100}$/.test(given))
    throw new UsageProblem(`--name may have letters, digits, dots and dashes (is: ${given}).`);
  return given;
}
