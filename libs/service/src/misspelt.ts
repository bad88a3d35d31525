import { knownSettings, type Env } from './config.ts';
import { isOneSlipAway } from './nearest-name.mjs';

/** Shorter names resemble too many others. */
const MIN_LENGTH = 6;

/** The last word of a setting, which is easily left out. Other words could make what other programs read. */
const UNIT_OR_KIND = /^_(S|DAYS|HOURS|MB|BYTES|FACTOR|SIZE|FILE|URL)$/;
/** What people are used to, with the setting that says it here. */
const OTHERWISE: Readonly<Record<string, string>> = { SMTP_HOST: 'SMTP_URL' };

/**
 * A sentence for each variable that nothing reads and whose name is nearly that of a setting. The environment is also
 * that of other programs, so that little is taken for a slip. Call it after all settings have been read.
 */
export function misspelt(env: Env): string[] {
  return Object.keys(env).flatMap((name) => {
    if (name.length < MIN_LENGTH || knownSettings.has(name)) return [];
    const meant = [...knownSettings].find(
      (known) => isOneSlipAway(name, known) || (!env[known] && isShort(name, known)),
    );
    return meant === undefined ? [] : [`${name} is no setting, and counts for nothing: is ${meant} meant?`];
  });
}

/** Whoever has the setting, too, means another program. */
const isShort = (name: string, known: string) =>
  OTHERWISE[name] === known ||
  (name.includes('_') && known.startsWith(name) && UNIT_OR_KIND.test(known.slice(name.length)));
