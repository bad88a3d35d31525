import { backoffMs, type Backoff, type Clock, type Log } from '@taskmesh/service';
import * as openid from 'openid-client';
import { email as address, name as accountName } from '@taskmesh/contracts';
import { providerUnavailable } from '../auth.errors.ts';
import type { OidcConfig } from '../config.ts';

/** Per request to the provider. A sign-in takes up to four requests, and the gateway waits for all of them. */
const TIMEOUT_S = 3;
const CLOCK_TOLERANCE_S = 30;
/** How long the provider's metadata is used before it is fetched again. */
const METADATA_TTL_MS = 3_600_000;
const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 60_000 };

/** The values that the browser must bring back. Only the browser stores them. */
export interface SignInSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** Validated claims. */
export type ProviderProfile = Awaited<ReturnType<typeof readProfile>>;

/** `refusal` is the provider's own error, such as `access_denied`. */
export type ProviderResult =
  { profile: ProviderProfile } | { refusal: Pick<openid.AuthorizationResponseError, 'error' | 'error_description'> };

/** An identity at a provider. */
export type Subject = Pick<ProviderProfile, 'issuer' | 'subject'>;

/** OpenID Connect with an authorization code, PKCE, state and nonce. `begin` and `finish` throw SERVICE_UNAVAILABLE without metadata. */
export type Provider = ReturnType<typeof createProvider>;

export interface ProviderDeps {
  config: OidcConfig;
  clientSecret: string | undefined;
  callbackUrl: string;
  /** Whether this identity is linked to an account. */
  isLinked: (identity: Subject) => Promise<boolean>;
  /** Measures durations. */
  monotonicClock: Clock;
  log: Log;
}

/** Fetches the provider's metadata when it is first needed, so that nothing else depends on the provider. */
export function createProvider(deps: ProviderDeps) {
  const { config, clientSecret, callbackUrl, isLinked, monotonicClock: clock, log } = deps;
  let known: { configuration: openid.Configuration; until: number } | undefined;
  let fetching: Promise<openid.Configuration> | undefined;
  let failures = 0;
  let notBefore = 0;

  const fetchMetadata = async (): Promise<openid.Configuration> => {
    try {
      const configuration = await discover(config, clientSecret);
      known = { configuration, until: clock.now() + METADATA_TTL_MS };
      failures = 0;
      return configuration;
    } catch (error) {
      failures++;
      notBefore = clock.now() + backoffMs(failures, BACKOFF);
      log.warn(
        { reason: reasonOf(error), issuer: config.issuer },
        'the metadata of the sign-in provider could not be read',
      );
      return lastKnown(error);
    } finally {
      fetching = undefined;
    }
  };
  const lastKnown = (error?: unknown): openid.Configuration => {
    if (!known) throw providerUnavailable(error);
    return known.configuration;
  };
  const getConfiguration = async (): Promise<openid.Configuration> => {
    const now = clock.now();
    if (known && now < known.until) return known.configuration;
    return now < notBefore ? lastKnown() : (fetching ??= fetchMetadata());
  };

  return {
    name: config.name,
    /** Where to send a browser. */
    async begin(): Promise<{ location: string; secrets: SignInSecrets }> {
      const secrets = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      };
      const { state, nonce, verifier } = secrets;
      const url = openid.buildAuthorizationUrl(await getConfiguration(), {
        ...{ redirect_uri: callbackUrl, scope: 'openid email profile', state, nonce },
        ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' },
      });
      return { location: url.href, secrets };
    },
    /** `search` is the query that the browser came back with. @throws the library's error for an invalid response */
    async finish(search: string, { state, nonce, verifier }: SignInSecrets) {
      const configuration = await getConfiguration();
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      try {
        const tokens = await openid.authorizationCodeGrant(configuration, new URL(`${callbackUrl}?${search}`), checks);
        return { profile: await readProfile(configuration, tokens, isLinked) };
      } catch (error) {
        if (error instanceof openid.AuthorizationResponseError) return { refusal: error };
        throw error;
      }
    },
  };
}

function discover({ issuer, clientId }: OidcConfig, clientSecret: string | undefined): Promise<openid.Configuration> {
  const url = new URL(issuer);
  const execute = [openid.enableNonRepudiationChecks];
  // The settings allow this only for a provider on this machine.
  if (url.protocol === 'http:') execute.push(openid.allowInsecureRequests); // eslint-disable-line @typescript-eslint/no-deprecated -- deprecated only to make it stand out
  const metadata = { [openid.clockTolerance]: CLOCK_TOLERANCE_S };
  const options = { timeout: TIMEOUT_S, execute, [openid.customFetch]: boundedFetch };
  return openid.discovery(url, clientId, metadata, clientAuthOf(clientSecret), options);
}

/** Uses the specification's default (basic), unless the provider offers only the other method. */
function clientAuthOf(secret: string | undefined): openid.ClientAuth {
  if (secret === undefined) return openid.None();
  const [basic, post] = [openid.ClientSecretBasic(secret), openid.ClientSecretPost(secret)];
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

/** A subject as OpenID Connect defines it. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/**
 * Reads the profile of the user from validated tokens. Some providers give the address, or whether it is verified, only in the user
 * info; a linked identity does not need it. An address or a name that breaks our own rules counts as absent.
 */
async function readProfile(
  configuration: openid.Configuration,
  tokens: openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers,
  isLinked: (identity: Subject) => Promise<boolean>,
) {
  const claims = tokens.claims();
  if (!claims) throw new Error('The provider returned no ID token.');
  if (!SUBJECT.test(claims.sub)) throw new Error('The subject of the ID token is malformed.');
  const identity = { issuer: claims.iss, subject: claims.sub };
  const isComplete = claims.email !== undefined && claims.email_verified !== undefined;
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
  // Rejects the user info of another subject.
  const fetchMore = () => openid.fetchUserInfo(configuration, tokens.access_token, claims.sub);
  const more =
    isComplete || !hasMore
      ? {}
      : await fetchMore().catch(async (error: unknown) => {
          if (await isLinked(identity)) return {};
          throw error;
        });
  const { email, email_verified, name }: Partial<openid.UserInfoResponse> = { ...claims, ...more };
  return {
    ...identity,
    email: address.safeParse(email).data,
    emailVerified: String(email_verified) === 'true', // Apple sends a string
    name: accountName.safeParse(name).data,
  };
}

/** Metadata, keys and tokens take a few KiB. */
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** Rejects responses that are larger than any that a provider needs to send. Counts bytes after decompression. */
const boundedFetch: openid.CustomFetch = async (url, options) => {
  const { body, status, statusText, headers } = await fetch(url, options);
  return new Response(body?.pipeThrough(limitSize()) ?? null, { status, statusText, headers });
};

function limitSize(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > MAX_RESPONSE_BYTES) controller.error(new Error('The response is too large.'));
      else controller.enqueue(chunk);
    },
  });
}

const BINDING_FORM = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/;

/** The value of the cookie that the browser stores during the sign-in. */
export function bindingOf({ state, nonce, verifier }: SignInSecrets): string {
  return [state, nonce, verifier].join('.');
}

export function secretsIn(binding: string): SignInSecrets | undefined {
  const [, state, nonce, verifier] = BINDING_FORM.exec(binding) ?? [];
  return state && nonce && verifier ? { state, nonce, verifier } : undefined;
}
