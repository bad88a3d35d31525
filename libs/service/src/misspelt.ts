import { knownSettings, type Env } from './config.ts';

/** Shorter names resemble too many others. */
const MIN_LENGTH = 6;

/**
 * A sentence for each variable that nothing reads and whose name is one typing error away from a setting. Call it after
 * all settings have been read.
 */
export function misspelt(env: Env): string[] {
  return Object.keys(env).flatMap((name) => {
    if (name.length < MIN_LENGTH || knownSettings.has(name)) return [];
    const meant = [...knownSettings].find((known) => isOneSlipAway(name, known));
    return meant === undefined ? [] : [`${name} is no setting, and counts for nothing: is ${meant} meant?`];
  });
}

/** One character too many, too few or wrong, or two neighbours swapped. */
export function isOneSlipAway(left: string, right: string): boolean {
  let begin = 0;
  while (begin < left.length && left[begin] === right[begin]) begin++;
  const [a, b] = [left.slice(begin), right.slice(begin)];
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return isSwapped || a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1);
}
