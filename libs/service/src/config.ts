import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { isOneTypoApart } from './nearest-name.mjs';

export type Env = Readonly<Record<string, string | undefined>>;

/** Invalid configuration. Lists every problem, each as a sentence that names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`Wrong configuration:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** The names of all settings that this process has read so far. */
const known = new Set<string>();

/** Returns the variables that are set. An empty value counts as absent: shells and Compose files cannot unset a variable. */
export function withoutEmpty(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value));
}

/**
 * Reads the variables in `schema`; an empty one counts as absent.
 * @throws ConfigError with every problem
 */
export function readEnv<Shape extends z.ZodRawShape>(schema: z.ZodObject<Shape>, env: Env) {
  for (const name of Object.keys(schema.shape)) known.add(name);
  const present = Object.fromEntries(
    Object.keys(schema.shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  );
  const result = schema.safeParse(present, { error: withoutForm });
  if (result.success) return result.data;
  throw new ConfigError(
    result.error.issues.map(({ path: [variable], message }) => {
      const name = String(variable); // the path may continue with an index of a list
      if (name in present) return `${name} ${message} (is: ${shown(name, env[name])})`;
      return message === '' ? `${name} is needed` : `${name} is needed: it ${message}`;
    }),
  );
}

/** Used by settings without a message of their own, because the validator's messages describe its internal types. */
const withoutForm = ({ input }: { input?: unknown }) => (input === undefined ? '' : 'cannot be used');

/** Runs all readers, and throws their problems as one ConfigError. */
export function readAll<Readers extends Record<string, () => unknown>>(
  readers: Readers,
): { [Name in keyof Readers]: ReturnType<Readers[Name]> } {
  const problems = new Set<string>();
  const values: Record<string, unknown> = {};
  for (const [name, read] of Object.entries(readers)) {
    try {
      values[name] = read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      for (const problem of error.problems) problems.add(problem);
    }
  }
  if (problems.size > 0) throw new ConfigError([...problems]);
  return values as { [Name in keyof Readers]: ReturnType<Readers[Name]> }; // each name was read above
}

const SECRET = /(PASSWORD|TOKEN|SECRET|KEY|HEADERS|(?<!^PUBLIC)_URL)$/;
/** The user and password in any other URL. */
const LOGIN = /\/\/\S*@/g;

function shown(name: string, value: string | undefined): string {
  return SECRET.test(name) ? 'not shown' : JSON.stringify(value?.replace(LOGIN, '//…@'));
}

const MAX_PORT = 65_535;

const numeric = (form: RegExp, message: string, [min, max]: [number, number]) =>
  z
    .string(message)
    .regex(form, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`);

/** Kinds of settings; each message continues the variable's name. */
export const setting = {
  text: () => z.string(),
  /** A bearer token: only these characters can be sent in a header. */
  token: () => z.string().regex(/^[!-~]+$/, 'must be of ASCII characters without blanks'),
  int: (min: number, max: number) => numeric(/^-?\d{1,15}$/, 'must be a whole number', [min, max]),
  number: (min: number, max: number) => numeric(/^-?\d{1,15}(\.\d+)?$/, 'must be a number', [min, max]),
  port: () => setting.int(0, MAX_PORT),
  /** The address to listen on. `::` means every interface, including IPv4, even on a system without IPv6. */
  host: () =>
    z
      .string()
      .default('127.0.0.1')
      .transform((host) => (host === '::' && !hasIpv6() ? '0.0.0.0' : host)),
  /** The prefix of topics on a server that several installations share. */
  topicPrefix: () =>
    z
      .string()
      .regex(/^[\w.-]{0,100}$/, 'must be at most 100 letters, digits, ".", "_" or "-"')
      .default(''),
  flag: () =>
    z
      .enum(['true', 'false', '1', '0', 'on', 'off'], 'must be true or false')
      .transform((value) => value === 'true' || value === '1' || value === 'on'),
  oneOf: <const Values extends readonly [string, ...string[]]>(values: Values) =>
    z.enum(values, `must be one of ${values.join(', ')}`),
  url: (...protocols: string[]) => {
    const beginnings = protocols.map((protocol) => `${protocol}//`);
    const form = `must be a URL that starts with ${beginnings.join(' or ')}`;
    return z.string(form).refine((value) => isUrl(value) && protocols.includes(new URL(value).protocol), {
      error: ({ input }) =>
        beginnings.some((beginning) => String(input).startsWith(beginning))
          ? 'is not a whole URL; in a password write / as %2F, @ as %40, % as %25 and the like'
          : form,
    });
  },
  /** As browsers write it, so that texts can be appended to it and compared with it. */
  webAddress: () =>
    z
      .string()
      .refine(
        (value) => isUrl(value) && /^https?:\/\/[^/?#@\\]+(\/[^?#\\]*)?$/i.test(value.trim()),
        'must be an address like https://tasks.example.com, without a user, query or fragment',
      )
      .transform((value) => new URL(value).href.replace(/\/+$/, '')),
  /** The sender of mails: one address, optionally with a display name. The charts have the same pattern. */
  sender: () =>
    z
      .string()
      .regex(
        /^(?:(?:[^<>":()@\p{Cc}]|"[^<>"\\\p{Cc}]*"|\([^<>"()\p{Cc}]*\))*<[^\p{Z}\p{C}<>@,()]+@[^\p{Z}\p{C}<>@,()]+>|[^\p{Z}\p{C}<>@,"():;]+@[^\p{Z}\p{C}<>@,"():;]+)$/u,
        'must be like Tasks <tasks@example.com>',
      ),
  /** Comma-separated values; blanks around them are ignored. */
  list: () =>
    z.string().transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    ),
};

/** Rejects a bare `%`, because users of a URL decode its parts. */
export const isUrl = (text: string): boolean => URL.canParse(text) && isDecodable(text);

export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const hasIpv6 = () =>
  Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ family }) => family === 'IPv6'));

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export const processSettings = {
  NODE_ENV: setting.oneOf(['development', 'test', 'production']).default('development'),
  LOG_LEVEL: setting.oneOf(LOG_LEVELS).default('info'),
  HOST: setting.host(),
  ADMIN_HOST: setting.host(),
  ADMIN_PORT: setting.port().optional(),
};

const ADMIN_PORT_DISTANCE = 10_000;

/** The settings common to all processes: the addresses for clients and for administrators, and the log level. */
export type ProcessConfig = ReturnType<typeof readProcess>;

/** @param defaultPort used when PORT is not set. @throws ConfigError with every problem */
export function readProcess(env: Env, defaultPort: number) {
  const schema = z.object({ ...processSettings, PORT: setting.port().default(defaultPort) });
  const { NODE_ENV, LOG_LEVEL, HOST, PORT, ADMIN_HOST, ADMIN_PORT } = readEnv(schema, env);
  const adminPort = ADMIN_PORT ?? (PORT === 0 ? 0 : PORT + ADMIN_PORT_DISTANCE);
  if (adminPort > MAX_PORT)
    throw new ConfigError([`ADMIN_PORT is needed: PORT + ${ADMIN_PORT_DISTANCE} is not a port`]);
  return {
    ...{ host: HOST, port: PORT, adminHost: ADMIN_HOST, adminPort },
    ...{ logLevel: LOG_LEVEL, production: NODE_ENV === 'production' },
  };
}

/** Ensures that a directory exists and is writable. @throws ConfigError that names `setting` */
export function ensureWritableDirectory(setting: string, dir: string, mode = 0o777): void {
  try {
    makeDirectory(dir, mode);
    rmdirSync(mkdtempSync(join(dir, '.writable-')));
  } catch (error) {
    const reason = Error.isError(error) && 'code' in error ? String(error.code) : String(error);
    throw new ConfigError([`${setting} must name a writable directory (${reason}: ${JSON.stringify(dir)})`]);
  }
}

/** Creates one level at a time: Node's `recursive` hangs if a parent exists but is not writable (for example, /proc). */
function makeDirectory(dir: string, mode: number): void {
  if (statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(dir) !== dir) makeDirectory(dirname(dir), mode);
  try {
    mkdirSync(dir, { mode });
  } catch (error) {
    if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory()) throw error; // another process may have created it
  }
}

/** Shorter names are similar to too many others. */
const MIN_LENGTH = 6;

/** Last words of settings that people leave out. With other words left out, the name could be another program's variable. */
const UNIT_OR_KIND = /^_(S|DAYS|HOURS|MB|BYTES|FACTOR|SIZE|FILE|URL)$/;
/** Names that people know from other products, with our setting for the same thing. */
const FOREIGN_NAMES: Readonly<Record<string, string>> = { SMTP_HOST: 'SMTP_URL' };

const TLS_OF_REDIS = 'REDIS_URL=rediss://…?sslrootcert=FILE&sslcert=FILE&sslkey=FILE replaces it';
const TLS_OF_KAFKA = 'KAFKA_BROKERS=kafkas://…?sslrootcert=FILE&sslcert=FILE&sslkey=FILE replaces it';
const LOGIN_AT_KAFKA = 'KAFKA_BROKERS=kafkas://user@…?mechanism=scram-sha-512 replaces it';
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT, set or empty, replaces it';
/** Settings of earlier versions, with their replacements. */
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
  REALTIME_MAX_QUEUED_MB: 'it is always 128, with answers over HTTP',
  MACHINE_TOKEN_FILE: 'the token is in DATA_DIR/keys/machine-token',
  ADMIN_TOKEN: 'dead letters are handled at a gateway, with BACKUP_TOKEN',
  BACKUP_PG_DUMP: 'backup always writes dumps itself',
  BACKUP_MAX_EXPANDED_MB: 'it is always eight times BACKUP_MAX_ARCHIVE_MB',
};

/**
 * Returns a warning for each unused variable whose name resembles a setting's, and for a token that is short enough to
 * guess. Other programs share the environment, so only close matches count as misspelt. Call this after all settings
 * have been read.
 */
export function findSuspectSettings(env: Env): string[] {
  return [...findMisspelt(env), ...findShortTokens(env)];
}

function findMisspelt(env: Env): string[] {
  return Object.keys(env).flatMap((name) => {
    if (name.length < MIN_LENGTH || known.has(name)) return [];
    const instead = REMOVED[name];
    if (instead !== undefined && !env[name]) return [];
    if (instead !== undefined) return [`${name} is no longer a setting and is ignored: ${instead}.`];
    const secret = name.replace(/_FILE$/, '');
    if (env[name] && !env[secret] && known.has(secret) && SECRET.test(secret))
      return [`${name} is ignored: set ${secret}.`];
    const meant = [...known].find((each) => isOneTypoApart(name, each) || (!env[each] && isShort(name, each)));
    return meant === undefined ? [] : [`${name} is not a setting and is ignored: is ${meant} meant?`];
  });
}

/**
 * Refuses removed settings that protected a connection: ignoring them would connect without encryption.
 * @throws ConfigError when a removed setting that begins with `prefix` is set
 */
export function refuseRemovedSettings(env: Env, prefix: 'KAFKA_' | 'REDIS_'): void {
  const problems = Object.entries(REMOVED).flatMap(([name, instead]) =>
    name.startsWith(prefix) && env[name] && env[name] !== 'false' ? [`${name} is no longer a setting: ${instead}`] : [],
  );
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Whether a name lacks the last word of a setting. If the setting itself is set, the short name belongs to another program. */
const isShort = (name: string, meant: string) =>
  FOREIGN_NAMES[name] === meant ||
  (name.includes('_') && meant.startsWith(name) && UNIT_OR_KIND.test(meant.slice(name.length)));

/** 16 random bytes as hexadecimal digits. */
const MIN_TOKEN_LENGTH = 32;

function findShortTokens({ NODE_ENV, BACKUP_TOKEN: token }: Env): string[] {
  const isRead = known.has('BACKUP_TOKEN');
  if (NODE_ENV !== 'production' || !token || token.length >= MIN_TOKEN_LENGTH || !isRead) return [];
  return [
    `BACKUP_TOKEN has fewer than ${MIN_TOKEN_LENGTH} characters and might be guessed: make one of 32 random bytes (openssl rand -hex 32).`,
  ];
}

export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version; // our own file
}
