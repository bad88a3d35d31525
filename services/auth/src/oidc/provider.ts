import { backoffMs, type Backoff, type Clock, type Log } from '@taskmesh/service';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  type ClientAuth,
  type Configuration,
  type CustomFetch,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  type UserInfoResponse,
} from 'openid-client';
import { email as address, name as accountName } from '@taskmesh/contracts';
import { providerIsAway } from '../auth.errors.ts';
import type { OidcConfig } from '../config.ts';

/** Per request to the provider. A sign-in takes up to four, and the gateway waits for all of them. */
const TIMEOUT_S = 3;
const CLOCK_TOLERANCE_S = 30;
/** How long the provider's metadata is used before it is fetched again. */
const KEPT_MS = 3_600_000;
const BACKOFF: Backoff = { firstMs: 1_000, longestMs: 60_000 };

/** What the browser must bring back. Only the browser keeps it. */
export interface SignInSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** Validated claims. */
export interface ProviderProfile {
  issuer: string;
  subject: string;
  email: string | undefined;
  emailVerified: boolean;
  name: string | undefined;
}

/** `refusal` is the provider's own error, such as `access_denied`. */
export type ProviderAnswer =
  { profile: ProviderProfile } | { refusal: { error: string; description: string | undefined } };

export interface ProviderStrategy {
  begin(): Promise<{ location: string; secrets: SignInSecrets }>;
  /** `search` is the query that the browser came back with. @throws the library's error for an invalid answer */
  finish(search: string, secrets: SignInSecrets): Promise<ProviderAnswer>;
}

export interface Provider {
  name: string;
  /** @throws AppError SERVICE_UNAVAILABLE while the provider's metadata is unknown */
  strategy(): Promise<ProviderStrategy>;
}

export interface ProviderDeps {
  config: OidcConfig;
  clientSecret: string | undefined;
  strategyFor(configuration: Configuration): ProviderStrategy;
  /** For durations. */
  clock: Clock;
  log: Log;
}

/** Fetches the provider's metadata when it is first needed, so that nothing else depends on the provider. */
export function createProvider({ config, clientSecret, strategyFor, clock, log }: ProviderDeps): Provider {
  let known: { strategy: ProviderStrategy; until: number } | undefined;
  let asking: Promise<ProviderStrategy> | undefined;
  let failures = 0;
  let notBefore = 0;

  const ask = async (): Promise<ProviderStrategy> => {
    try {
      const strategy = strategyFor(await discover(config, clientSecret));
      known = { strategy, until: clock.now() + KEPT_MS };
      failures = 0;
      return strategy;
    } catch (error) {
      failures++;
      notBefore = clock.now() + backoffMs(failures, BACKOFF);
      log.warn(
        { reason: reasonOf(error), issuer: config.issuer },
        'the metadata of the sign-in provider could not be read',
      );
      return lastKnown(error);
    } finally {
      asking = undefined;
    }
  };
  const lastKnown = (error?: unknown): ProviderStrategy => {
    if (!known) throw providerIsAway(error);
    return known.strategy;
  };

  return {
    name: config.name,
    async strategy() {
      const now = clock.now();
      if (known && now < known.until) return known.strategy;
      return now < notBefore ? lastKnown() : (asking ??= ask());
    },
  };
}

function discover({ issuer, clientId }: OidcConfig, clientSecret: string | undefined): Promise<Configuration> {
  const url = new URL(issuer);
  const execute = [enableNonRepudiationChecks];
  // The settings allow this only for a provider on this machine.
  if (url.protocol === 'http:') execute.push(allowInsecureRequests); // eslint-disable-line @typescript-eslint/no-deprecated -- deprecated only to make it stand out
  const metadata = { [clockTolerance]: CLOCK_TOLERANCE_S };
  const options = { timeout: TIMEOUT_S, execute, [customFetch]: boundedFetch };
  return discovery(url, clientId, metadata, clientAuthOf(clientSecret), options);
}

/** Uses the specification's default, unless the provider offers only the other way. */
function clientAuthOf(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...request) => {
    const { token_endpoint_auth_methods_supported: offered = ['client_secret_basic'] } = server;
    const isPost = offered.includes('client_secret_post') && !offered.includes('client_secret_basic');
    return (isPost ? post : basic)(server, ...request);
  };
}

/** For the log. Contains nothing that the provider or a browser sent. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const code = 'code' in error ? ` (${String(error.code)})` : '';
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return `${error.message}${code}${cause}`;
}

/** As OpenID Connect defines it. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** An identity at a provider. */
export type Subject = Pick<ProviderProfile, 'issuer' | 'subject'>;

/**
 * Reads whom the validated tokens are about. Some providers give the address, or whether it is verified, only in the user info, which
 * an identity that is linked can do without. An address or a name that breaks our own rules counts as absent.
 */
export async function readProfile(
  configuration: Configuration,
  tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
  isLinked: (identity: Subject) => Promise<boolean>,
): Promise<ProviderProfile> {
  const claims = tokens.claims();
  if (!claims) throw new Error('The provider gave no ID token.');
  if (!SUBJECT.test(claims.sub)) throw new Error('The subject of the ID token is malformed.');
  const identity = { issuer: claims.iss, subject: claims.sub };
  const isComplete = claims.email !== undefined && claims.email_verified !== undefined;
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
  // Rejects the user info of another subject.
  const ask = () => fetchUserInfo(configuration, tokens.access_token, claims.sub);
  const more =
    isComplete || !hasMore
      ? {}
      : await ask().catch(async (error: unknown) => {
          if (await isLinked(identity)) return {};
          throw error;
        });
  const { email, email_verified, name }: Partial<UserInfoResponse> = { ...claims, ...more };
  return {
    ...identity,
    email: address.safeParse(email).data,
    emailVerified: String(email_verified) === 'true', // a text at Apple
    name: accountName.safeParse(name).data,
  };
}

/** Metadata, keys and tokens take a few KiB. */
const MOST_BYTES = 1024 * 1024;

/** Fails answers that are larger than anything a provider needs to say. Counts bytes after decompression. */
const boundedFetch: CustomFetch = async (url, options) => {
  const { body, status, statusText, headers } = await fetch(url, options);
  return new Response(body?.pipeThrough(bounded()) ?? null, { status, statusText, headers });
};

function bounded(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MOST_BYTES) controller.error(new Error('The answer is too large.'));
      else controller.enqueue(chunk);
    },
  });
}

const PARTS = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/;

/** The value of the cookie that the browser keeps in between. */
export function bindingOf({ state, nonce, verifier }: SignInSecrets): string {
  return [state, nonce, verifier].join('.');
}

export function secretsIn(binding: string): SignInSecrets | undefined {
  const [, state, nonce, verifier] = PARTS.exec(binding) ?? [];
  return state && nonce && verifier ? { state, nonce, verifier } : undefined;
}
