import { networkInterfaces } from 'node:os';
import { z } from 'zod';

export type Env = Readonly<Record<string, string | undefined>>;

/** Wrong configuration, with all problems, each one a sentence that names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: string[];

  constructor(problems: string[]) {
    super(`Wrong configuration:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const known = new Set<string>();
/** The names of all settings that this process has read so far. */
export const knownSettings: ReadonlySet<string> = known;

/** The variables that are set. An empty value counts as absent, as shells and Compose files write it. */
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

/** For settings that say nothing of their form: the validator's own words are about types. */
const withoutForm = ({ input }: { input?: unknown }) => (input === undefined ? '' : 'cannot be used');

/** Runs several readers and throws one ConfigError with the problems of all. */
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
/** Who logs in, in any other URL. */
const LOGIN = /\/\/\S*@/g;

function shown(name: string, value: string | undefined): string {
  return SECRET.test(name) ? 'not shown' : JSON.stringify(value?.replace(LOGIN, '//…@'));
}

const LARGEST_PORT = 65_535;

/** Kinds of settings; each message continues the variable's name. */
export const setting = {
  text: () => z.string(),
  /** A bearer token: other characters could not be sent in a header. */
  token: () => z.string().regex(/^[!-~]+$/, 'must be of ASCII characters without blanks'),
  int: (min: number, max: number) =>
    z
      .string('must be a whole number')
      .regex(/^-?\d{1,15}$/, 'must be a whole number')
      .transform(Number)
      .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
  number: (min: number, max: number) =>
    z
      .string('must be a number')
      .regex(/^-?\d{1,15}(\.\d+)?$/, 'must be a number')
      .transform(Number)
      .refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`),
  port: () => setting.int(0, LARGEST_PORT),
  /** Where to listen. `::` is every interface, IPv4 included, also where the system has no IPv6. */
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
  /** One address, alone or behind a name: who mails are from. */
  sender: () =>
    z
      .string()
      .regex(
        /^(?:[^<>\p{Cc}]*<[^\s<>@,]+@[^\s<>@,]+>|[^\s<>@,]+@[^\s<>@,]+)$/u,
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

/** The parts of a URL are decoded by those that use it, and a bare `%` cannot be. */
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
};

export const adminSettings = {
  ADMIN_HOST: setting.host(),
};

const ADMIN_PORT_DISTANCE = 10_000;

/** ADMIN_PORT, by default PORT + 10000. @throws ConfigError when that is no port */
export function adminPortOf({ PORT, ADMIN_PORT }: { PORT: number; ADMIN_PORT?: number | undefined }): number {
  if (ADMIN_PORT !== undefined || PORT === 0) return ADMIN_PORT ?? 0;
  if (PORT + ADMIN_PORT_DISTANCE <= LARGEST_PORT) return PORT + ADMIN_PORT_DISTANCE;
  throw new ConfigError([`ADMIN_PORT is needed: PORT + ${ADMIN_PORT_DISTANCE} is no port`]);
}
