import { ConfigError, type Refusal } from '@taskmesh/service';

/** What the migrations and statements are written for. docs/servers.md says it, too. */
const OLDEST_MAJOR = 15;

/** Of every version the same words: it is asked before anything else. */
export const SERVER_VERSION = `select current_setting('server_version_num')::int as version`;

/** `version` is the server's `server_version_num`: 180004 for 18.4. */
export function whyTooOld(version: number): Refusal | undefined {
  const major = Math.floor(version / 10_000);
  if (major >= OLDEST_MAJOR) return undefined;
  return { reason: `is of version ${major}, and has to be of ${OLDEST_MAJOR} or newer`, isLasting: true };
}

/** @throws ConfigError */
export function refuseTooOld(version: number): void {
  const refusal = whyTooOld(version);
  if (refusal) throw new ConfigError([`PostgreSQL ${refusal.reason}`]);
}
