import { knownSettings, type Env } from './config.ts';

/** Shorter names are near to too many others. */
const MIN_LENGTH = 6;

/**
 * Variables that nobody reads whose names are one slip away from a setting: a sentence for each. To be asked when all
 * settings have been read.
 */
export function misspelt(env: Env): string[] {
  return Object.keys(env).flatMap((name) => {
    if (name.length < MIN_LENGTH || knownSettings.has(name)) return [];
    const meant = [...knownSettings].find((known) => isOneSlipAway(name, known));
    return meant === undefined ? [] : [`${name} is no setting, and counts for nothing: is ${meant} meant?`];
  });
}

/** One character too many, too few or wrong, or two next to each other in the wrong order. */
export function isOneSlipAway(left: string, right: string): boolean {
  let begin = 0;
  while (begin < left.length && left[begin] === right[begin]) begin++;
  const [a, b] = [left.slice(begin), right.slice(begin)];
  const isSwapped = a[0] === b[1] && a[1] === b[0] && a.slice(2) === b.slice(2);
  return isSwapped || a.slice(1) === b.slice(1) || a.slice(1) === b || a === b.slice(1);
}
