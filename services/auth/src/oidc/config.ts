import { ConfigError, isLoopbackHost, readEnv, setting, type Env } from '@taskmesh/service';
import { z } from 'zod';

/** The sign-in provider. Its secret is with the other secrets. */
export interface OidcConfig {
  issuer: string;
  clientId: string;
  /** What people call it. */
  name: string;
}

const issuer = setting
  .url('https:', 'http:')
  .refine(isUsableIssuer, 'must be https:// (or http:// on this machine), without a query or a user');

const settings = z.object({
  OIDC_ISSUER: issuer.optional(),
  OIDC_CLIENT_ID: setting.text().optional(),
  OIDC_CLIENT_SECRET: setting.text().optional(),
  OIDC_NAME: setting.text().optional(),
});

/** @throws ConfigError with every problem; `oidc` is undefined without a provider */
export function readOidcConfig(env: Env): { oidc: OidcConfig | undefined; clientSecret: string | undefined } {
  const values = readEnv(settings, env);
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = values;
  const given = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return { oidc: undefined, clientSecret: undefined };
  if (issuer === undefined || clientId === undefined)
    throw new ConfigError(
      ['OIDC_ISSUER', 'OIDC_CLIENT_ID'].flatMap((name) =>
        given.includes(name) ? [] : [`${name} is needed: with ${given.join(', ')}`],
      ),
    );
  const { OIDC_NAME: name = new URL(issuer).host } = values;
  return { oidc: { issuer, clientId, name }, clientSecret };
}

function isUsableIssuer(value: string): boolean {
  if (!/^https?:/i.test(value) || !URL.canParse(value)) return true; // that is told already
  const { protocol, host, search, hash, username } = new URL(value);
  return (protocol === 'https:' || isLoopbackHost(host)) && search + hash + username === '';
}
