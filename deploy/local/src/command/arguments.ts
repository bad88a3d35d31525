import { errorMessage } from '@taskmesh/contracts/error-details';
import { readArguments } from '@taskmesh/service/arguments';
import { UsageError } from './run-command.ts';

/** The values of `texts` (each takes one) and `flags` (they take none); `help` is one of them. @throws UsageError */
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
    return readArguments({ args, options }).values as Partial<Record<Text, string> & Record<Flag | 'help', boolean>>; // as asked for above
  } catch (cause) {
    throw new UsageError(`${errorMessage(cause)}\nSee --help.`, { cause });
  }
}

/** @throws UsageError */
export function number(option: string, given: string, range: { min: number; max: number; isWhole?: boolean }): number {
  const value = Number(given);
  const { min, max, isWhole = false } = range;
  if (!(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
    throw new UsageError(`${option} must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max} (is: ${given}).`);
  return value;
}
