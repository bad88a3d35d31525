import { ConfigError, type Env } from '@taskmesh/service';
import { readFileSync, statSync } from 'node:fs';

const IDENTITY = /^AGE-SECRET-KEY-(PQ-)?1[02-9A-Z]+$/;
/** Forbidden permissions: only the owner may write, and others may not read. The group may read, as mounted secrets require. */
const FORBIDDEN_MODE = 0o027;

/**
 * Reads the identities from the file that the variable `name` names, in age-keygen's format: one per line, and comments.
 * Returns none if the variable is not set.
 * @throws ConfigError when the file is unreadable, accessible to others, or contains anything else
 */
export function readKeyFile(env: Env, name: string): string[] {
  const path = env[name];
  if (!path) return [];
  const shown = `(is: ${JSON.stringify(path)})`;
  let text: string;
  let mode: number;
  try {
    text = readFileSync(path, 'utf8');
    mode = statSync(path).mode;
  } catch {
    throw new ConfigError([`${name} must name a readable file (is: not shown)`]); // a key itself may have been pasted
  }
  if ((mode & FORBIDDEN_MODE) !== 0) throw new ConfigError([`${name} must name a file that only its owner may change or read: chmod 600 ${shown}`]); // prettier-ignore
  const lines = text.split('\n').map((line) => line.trim());
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (identities.length === 0 || !identities.every((line) => IDENTITY.test(line)))
    throw new ConfigError([`${name} must name a file of age identities, one AGE-SECRET-KEY-… a line ${shown}`]);
  return identities;
}
