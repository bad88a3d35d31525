import { ConfigError, knownSettings, type Env } from './config.ts';
import { isOneSlipAway } from './nearest-name.mjs';

/** Shorter names resemble too many others. */
const MIN_LENGTH = 6;

/** The last word of a setting, which is easily left out. Other words could make what other programs read. */
const UNIT_OR_KIND = /^_(S|DAYS|HOURS|MB|BYTES|FACTOR|SIZE|FILE|URL)$/;
/** What people are used to, with the setting that says it here. */
const OTHERWISE: Readonly<Record<string, string>> = { SMTP_HOST: 'SMTP_URL' };

const TLS_OF_REDIS = 'REDIS_URL=rediss://…?sslrootcert=FILE&sslcert=FILE&sslkey=FILE says it';
const TLS_OF_KAFKA = 'KAFKA_BROKERS=kafkas://…?sslrootcert=FILE&sslcert=FILE&sslkey=FILE says it';
const LOGIN_AT_KAFKA = 'KAFKA_BROKERS=kafkas://user@…?mechanism=scram-sha-512 says it';
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT, set or empty, says it';
/** What was a setting in an earlier version, with what to do instead. */
const REMOVED: Readonly<Record<string, string>> = {
  REDIS_TLS_CA_FILE: TLS_OF_REDIS,
  REDIS_TLS_CERT_FILE: TLS_OF_REDIS,
  REDIS_TLS_KEY_FILE: TLS_OF_REDIS,
  KAFKA_SSL: TLS_OF_KAFKA,
  KAFKA_SSL_CA_FILE: TLS_OF_KAFKA,
  KAFKA_SSL_CERT_FILE: TLS_OF_KAFKA,
  KAFKA_SSL_KEY_FILE: TLS_OF_KAFKA,
  KAFKA_SASL_MECHANISM: LOGIN_AT_KAFKA,
  KAFKA_SASL_USERNAME: LOGIN_AT_KAFKA,
  OTEL_SDK_DISABLED: ENDPOINT,
  OTEL_TRACES_EXPORTER: ENDPOINT,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ENDPOINT,
  OTEL_BSP_SCHEDULE_DELAY: 'spans are sent every second',
  OTEL_BSP_MAX_QUEUE_SIZE: 'it is always 2048',
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: 'it is always 512',
  POSTGRES_POOL_SIZE: 'a tasks process always has 10 connections for requests',
  MAX_SESSIONS_PER_ACCOUNT: 'an account has at most 1,000',
  OIDC_SCOPES: 'it is always openid email profile',
  REALTIME_MAX_QUEUED_MB: 'it is always 64',
  MACHINE_TOKEN_FILE: 'the token is in DATA_DIR/keys/machine-token',
  BACKUP_MAX_EXPANDED_MB: 'it is always twice BACKUP_MAX_ARCHIVE_MB',
};

/**
 * A sentence for each variable that nothing reads and whose name is nearly that of a setting. The environment is also
 * that of other programs, so that little is taken for a slip. Call it after all settings have been read.
 */
export function misspelt(env: Env): string[] {
  return Object.keys(env).flatMap((name) => {
    if (name.length < MIN_LENGTH || knownSettings.has(name)) return [];
    const instead = REMOVED[name];
    if (instead !== undefined && !env[name]) return [];
    if (instead !== undefined) return [`${name} is no setting any more, and counts for nothing: ${instead}.`];
    const meant = [...knownSettings].find(
      (known) => isOneSlipAway(name, known) || (!env[known] && isShort(name, known)),
    );
    return meant === undefined ? [] : [`${name} is no setting, and counts for nothing: is ${meant} meant?`];
  });
}

/**
 * For those that protected a connection: without them it would be made in the open.
 * @throws ConfigError when one that begins with `prefix` is set
 */
export function refuseRemoved(env: Env, prefix: 'KAFKA_' | 'REDIS_'): void {
  const problems = Object.entries(REMOVED).flatMap(([name, instead]) =>
    name.startsWith(prefix) && env[name] && env[name] !== 'false' ? [`${name} is no setting any more: ${instead}`] : [],
  );
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Whoever has the setting, too, means another program. */
const isShort = (name: string, known: string) =>
  OTHERWISE[name] === known ||
  (name.includes('_') && known.startsWith(name) && UNIT_OR_KIND.test(known.slice(name.length)));
