import { isOneSlipAway } from './arguments.mjs';
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
