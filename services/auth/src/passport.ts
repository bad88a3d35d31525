import { unauthenticated } from '@taskmesh/contracts';
import type { Identity, IdentityVerifier } from '@taskmesh/identity';
import { bearerToken } from '@taskmesh/service';
import passport from 'passport';

/**
 * The only file that uses passport. Each way to authenticate a caller is a strategy here; the rest of auth only receives
 * the caller.
 */

export interface Credentials {
  email: string;
  password: string;
}

/** Authenticates users by e-mail address and password. @returns the user with these credentials, or undefined */
export function createLoginStrategy<User extends object, Input extends Credentials>(
  check: (credentials: Input) => Promise<User | undefined>,
): (credentials: Input) => Promise<User | undefined> {
  // An imported hash may belong to an empty password.
  const authenticate = strategyOf('login', async ({ body }: { body: Input }) =>
    body.password ? check(body) : undefined,
  );
  return (credentials) => authenticate({ body: credentials });
}

/**
 * Authenticates calling services by an identity token in the `authorization` header.
 * @throws AppError UNAUTHENTICATED, from the returned function
 */
export function createIdentityStrategy(
  verifier: IdentityVerifier,
): (authorization: string | undefined) => Promise<Identity> {
  const authenticate = strategyOf('identity', async (request: { headers: { authorization: string | undefined } }) => {
    const token = bearerToken(request.headers.authorization);
    return token ? verifier.verify(token) : undefined;
  });
  return async (authorization) => {
    const identity = await authenticate({ headers: { authorization } });
    if (!identity) throw unauthenticated('An identity token is needed.');
    return identity;
  };
}

/**
 * Returns a function that lets `recognise` find the sender of a request, undefined if unknown. Passport is made for middleware, so it
 * receives only the parts of a request that the strategy reads, and a response that nothing writes to.
 */
function strategyOf<Request extends object, User extends object>(
  name: string,
  recognise: (request: Request) => Promise<User | undefined>,
): (request: Request) => Promise<User | undefined> {
  const strategies = new passport.Passport();
  strategies.use(name, {
    authenticate(request) {
      recognise(request as unknown as Request).then(
        (user) => (user ? this.success(user) : this.fail()),
        (error: unknown) => this.error(error),
      );
    },
  });
  return (request) =>
    new Promise((resolve, reject) => {
      const settle = (error: unknown, user?: unknown) => (error ? reject(error) : resolve((user || undefined) as User)); // from `recognise`
      strategies.authenticate(name, { session: false }, settle)(request, {}, reject);
    });
}
