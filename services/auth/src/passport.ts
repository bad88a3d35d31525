import { unauthenticated } from '@taskmesh/contracts';
import type { Identity, IdentityVerifier } from '@taskmesh/identity';
import { bearerToken } from '@taskmesh/service';
import { AuthorizationResponseError, randomNonce, randomState, type Configuration } from 'openid-client';
import { Strategy as OidcStrategy } from 'openid-client/passport';
import passport, { type Strategy } from 'passport';
import {
  readProfile,
  type ProviderAnswer,
  type ProviderProfile,
  type ProviderStrategy,
  type SignInSecrets,
  type Subject,
} from './oidc/provider.ts';

/**
 * The only file that knows passport. Each way to authenticate somebody is a strategy here; the rest of auth only asks who
 * it is.
 */

type Strategies = InstanceType<typeof passport.Passport>;

export interface Credentials {
  email: string;
  password: string;
}

/** Asks `recognise` who sent a request; undefined: no one that is known. */
function strategyOf<Request>(recognise: (request: Request) => Promise<object | undefined>): Strategy {
  return {
    authenticate(request) {
      recognise(request as Request).then(
        (who) => (who ? this.success(who) : this.fail()),
        (error: unknown) => this.error(error),
      );
    },
  };
}

/** The login of people, with e-mail address and password. @returns the user with these credentials, or undefined */
export function createLoginStrategy<Who extends object, Given extends Credentials>(
  check: (credentials: Given) => Promise<Who | undefined>,
): (credentials: Given) => Promise<Who | undefined> {
  const strategies = new passport.Passport();
  strategies.use(
    'login',
    strategyOf<{ body: Given }>(async ({ body }) => (body.email && body.password ? check(body) : undefined)),
  );
  return async (credentials) => {
    const { user } = await run(strategies, 'login', { body: credentials });
    return user ? (user as Who) : undefined; // what `check` returned
  };
}

/**
 * Authenticates calling services by an identity token in the `authorization` header.
 * @throws AppError UNAUTHENTICATED, from the returned function
 */
export function createIdentityStrategy(
  verifier: IdentityVerifier,
): (authorization: string | undefined) => Promise<Identity> {
  const strategies = new passport.Passport();
  strategies.use(
    'identity',
    strategyOf<{ headers: { authorization?: string } }>(async ({ headers }) => {
      const token = bearerToken(headers.authorization);
      return token ? verifier.verify(token) : undefined;
    }),
  );
  return async (authorization) => {
    const { user: identity } = await run(strategies, 'identity', { headers: { authorization } });
    if (!identity) throw unauthenticated('An identity token is needed.');
    return identity as Identity; // what the verifier returned
  };
}

/** The key of the strategy's state in a session that lasts for one call. */
const PENDING = 'pending';

/** The names are the strategy's. */
interface Pending {
  state: string;
  nonce: string;
  code_verifier: string;
}

/** OpenID Connect with an authorization code, PKCE, state and nonce. */
export function createProviderStrategy(options: {
  configuration: Configuration;
  callbackUrl: string;
  /** Whether this identity is linked to an account. */
  isLinked: (identity: Subject) => Promise<boolean>;
}): ProviderStrategy {
  const { configuration, callbackUrl, isLinked } = options;
  const strategy = new OidcStrategy(
    { config: configuration, callbackURL: callbackUrl, sessionKey: PENDING },
    (tokens, done) => {
      readProfile(configuration, tokens, isLinked).then((profile) => done(null, profile), done);
    },
  );
  strategy.authorizationRequestParams = () =>
    new URLSearchParams({ scope: 'openid email profile', state: randomState(), nonce: randomNonce() });
  // Without this, an answer without a code would start another sign-in.
  strategy.shouldInitiateAuthRequest = (request) => request.url === BEGINNING;
  const strategies = new passport.Passport();
  strategies.use('provider', strategy);

  const ask = async (url: string, pending?: Pending) => {
    const session: Record<string, unknown> = { [PENDING]: pending };
    // The strategy takes the real address from `callbackURL`.
    const outcome = await run(strategies, 'provider', {
      method: 'GET',
      protocol: 'http',
      host: 'localhost',
      url,
      session,
    });
    return { ...outcome, pending: session[PENDING] as Pending }; // as the strategy has left it
  };

  return {
    async begin() {
      const { location, pending } = await ask(BEGINNING);
      if (location === undefined) throw new Error('The strategy began no sign-in.');
      const { state, nonce, code_verifier: verifier } = pending;
      return { location, secrets: { state, nonce, verifier } };
    },
    async finish(search, { state, nonce, verifier }: SignInSecrets): Promise<ProviderAnswer> {
      try {
        const { user, challenge } = await ask(`/?${search}`, { state, nonce, code_verifier: verifier });
        return user ? { profile: user as ProviderProfile } : refusalOf(challenge as Partial<Refusal> | undefined); // of the two callbacks above
      } catch (error) {
        if (error instanceof AuthorizationResponseError) return refusalOf(error);
        throw error;
      }
    },
  };
}

const BEGINNING = '/';

type Refusal = Pick<AuthorizationResponseError, 'error' | 'error_description'>;

function refusalOf({ error = 'access_denied', error_description: description }: Partial<Refusal> = {}): ProviderAnswer {
  return { refusal: { error, description } };
}

interface Outcome {
  user: unknown;
  /** The strategy's reason for recognising no one. */
  challenge?: unknown;
  /** Where to send the caller instead. */
  location?: string;
}

/** Passport is made for middleware, so this passes it a request with what the strategies read, and a response that is never sent. */
function run(strategies: Strategies, name: string, request: object): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown, user?: unknown, challenge?: unknown) => {
      if (error) reject(error);
      else resolve({ user, challenge });
    };
    let location = '';
    const response = {
      setHeader: (header: string, value: string) => {
        if (header === 'Location') location = value;
      },
      end: () => resolve({ user: undefined, location }),
    };
    const middleware = strategies.authenticate(name, { session: false }, settle);
    middleware({ headers: {}, ...request }, response, reject);
  });
}
