import { availableParallelism } from 'node:os';
import { readSchemaPolicy } from '@taskmesh/store';
import { ACCESS_TOKEN_MAX_TTL_S } from '@taskmesh/identity';
import { ConfigError, isLoopbackHost, processSettings, readAll, readEnv, setting, type Env } from '@taskmesh/service';
import { z } from 'zod';

/** auth's settings. Durations carry their unit; secrets are separate, so that the rest may be shown. */
export type AuthConfig = ReturnType<typeof readAuthConfig>;

const settings = z.object({
  NODE_ENV: processSettings.NODE_ENV,
  POSTGRES_URL: setting.url('postgres:', 'postgresql:'),
  DATA_DIR: setting.text().default('.data'),
  ACCESS_TOKEN_TTL_S: setting.int(1, ACCESS_TOKEN_MAX_TTL_S).default(3_600),
  ACCESS_TOKEN_KEYS_FILE: setting.text().optional(),
  REFRESH_TOKEN_TTL_DAYS: setting.int(1, 3_650).default(30),
  AUDIT_RETENTION_DAYS: setting.int(1, 36_500).default(365),
  PASSWORD_MIN_LENGTH: setting.int(8, 128).default(8),
  HASH_CONCURRENCY: setting.int(1, 1_024).optional(),
  RATE_LIMIT_FACTOR: setting.number(0, 1_000_000).optional(),
  SMTP_URL: setting.url('smtp:', 'smtps:').optional(),
  MAIL_FROM: setting.sender().default('Taskmesh <taskmesh@localhost>'),
  PUBLIC_URL: setting.webAddress().default('http://127.0.0.1:4000'),
});

/** Why mails would not work in production: one sentence per missing setting. */
export function findMailProblems(env: Env): string[] {
  if (env.NODE_ENV !== 'production') return [];
  return [
    ...(env.SMTP_URL ? [] : ['SMTP_URL is not set: recovery mails are files under DATA_DIR/mail, and reach no one.']),
    ...(env.PUBLIC_URL ? [] : ['PUBLIC_URL is not set: the links in recovery mails lead to this machine only.']),
  ];
}

/** Leaves four of libuv's threads (four by default) to DNS and files. A quarter as many bcrypt hashes run as well. */
const defaultConcurrency = (cores: number, threads = 4) =>
  Math.max(1, Math.min(cores - 1, Math.floor((threads - 4) / 1.25)));

/** Reads auth's settings; `cores` and libuv's threads determine the default of HASH_CONCURRENCY. @throws ConfigError with every problem */
export function readAuthConfig(env: Env, cores = availableParallelism()) {
  const { values, provider, schema } = readAll({
    values: () => readEnv(settings, env),
    provider: () => readOidcConfig(env),
    schema: () => readSchemaPolicy(env),
  });
  return {
    /** The directory for keys and mail files. */
    dataDir: values.DATA_DIR,
    accessTokenTtlSeconds: values.ACCESS_TOKEN_TTL_S,
    /** The operator's JWK set; undefined: auth creates its own in `dataDir`. */
    accessTokenKeysFile: values.ACCESS_TOKEN_KEYS_FILE,
    refreshTokenTtlDays: values.REFRESH_TOKEN_TTL_DAYS,
    /** A login beyond this limit ends the session that has been unused the longest. */
    maxSessionsPerAccount: 1_000,
    auditRetentionDays: values.AUDIT_RETENTION_DAYS,
    passwordMinLength: values.PASSWORD_MIN_LENGTH,
    hashConcurrency: values.HASH_CONCURRENCY ?? defaultConcurrency(cores, Number(env.UV_THREADPOOL_SIZE) || undefined),
    /** Multiplies the limits per IP; 0 disables them. */
    rateLimitFactor: values.RATE_LIMIT_FACTOR ?? (values.NODE_ENV === 'production' ? 1 : 100),
    mailFrom: values.MAIL_FROM,
    /** What links in mails begin with. */
    publicUrl: values.PUBLIC_URL,
    /** The provider through which people sign in without a password; undefined if there is none. */
    oidc: provider.oidc,
    schema,
    secrets: {
      postgresUrl: values.POSTGRES_URL,
      /** undefined: mails are written to files. */
      smtpUrl: values.SMTP_URL,
      /** undefined: the provider requires none. */
      oidcClientSecret: provider.clientSecret,
    },
  };
}

/** The sign-in provider. Its secret is with the other secrets. */
export interface OidcConfig {
  issuer: string;
  clientId: string;
  /** The name that users see. */
  name: string;
}

const issuer = setting
  .url('https:', 'http:')
  .refine(isUsableIssuer, 'must be https:// (or http:// on this machine), without a query or a user');

const providerSettings = z.object({
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: setting.text().optional(),
  OIDC_CLIENT_SECRET: setting.text().optional(),
  OIDC_NAME: setting.text().optional(),
});

/** @throws ConfigError with every problem; `oidc` is undefined without a provider */
function readOidcConfig(env: Env): { oidc: OidcConfig | undefined; clientSecret: string | undefined } {
  const values = readEnv(providerSettings, env);
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = values;
  const present = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (present.length === 0) return { oidc: undefined, clientSecret: undefined };
  if (issuer === undefined || clientId === undefined)
    throw new ConfigError(
      ['OIDC_ISSUER', 'OIDC_CLIENT_ID'].flatMap((name) =>
        present.includes(name) ? [] : [`${name} is needed: with ${present.join(', ')}`],
      ),
    );
  const { OIDC_NAME: name = new URL(issuer).host } = values;
  return { oidc: { issuer, clientId, name }, clientSecret };
}

function isUsableIssuer(value: string): boolean {
  if (!/^https?:/i.test(value) || !URL.canParse(value)) return true; // the URL check reports this
  const { protocol, host, search, hash, username } = new URL(value);
  return (protocol === 'https:' || isLoopbackHost(host)) && search + hash + username === '';
}
