import { unauthenticated } from '@taskmesh/contracts';
import type { Identity, IdentityVerifier } from '@taskmesh/identity';
import { bearerToken } from '@taskmesh/service';
import passport from 'passport';

/**
 * The only file that knows passport. Each way to authenticate somebody is a strategy here; the rest of auth only asks who
 * it is.
 */

export interface Credentials {
  email: string;
  password: string;
}

/** The login of people, with e-mail address and password. @returns the user with these credentials, or undefined */
export function createLoginStrategy<Who extends object, Given extends Credentials>(
  check: (credentials: Given) => Promise<Who | undefined>,
): (credentials: Given) => Promise<Who | undefined> {
  // A hash that came with an import may be of an empty password.
  const authenticate = strategyOf('login', async ({ body }: { body: Given }) =>
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
 * Asks `recognise` who sent a request; undefined: no one that is known. Passport is made for middleware, so it gets what the strategy
 * reads of a request, and a response that nothing writes to.
 */
function strategyOf<Request extends object, Who extends object>(
  name: string,
  recognise: (request: Request) => Promise<Who | undefined>,
): (request: Request) => Promise<Who | undefined> {
  const strategies = new passport.Passport();
  strategies.use(name, {
    authenticate(request) {
      recognise(request as unknown as Request).then(
        (who) => (who ? this.success(who) : this.fail()),
        (error: unknown) => this.error(error),
      );
    },
  });
  return (request) =>
    new Promise((resolve, reject) => {
      const settle = (error: unknown, who?: unknown) => (error ? reject(error) : resolve((who || undefined) as Who)); // as recognised
      strategies.authenticate(name, { session: false }, settle)(request, {}, reject);
    });
}
