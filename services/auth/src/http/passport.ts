import { unauthenticated } from '@taskmesh/errors';
import type { Identity, IdentityVerifier } from '@taskmesh/identity';
import passport, { type Strategy } from 'passport';
import { Strategy as BearerStrategy } from 'passport-http-bearer';
import { Strategy as LocalStrategy } from 'passport-local';

/**
 * The only file that knows passport. Each way to tell who somebody is is a strategy here: another one (OpenID Connect)
 * is registered beside these two, and the rest of auth goes on asking "who is this?".
 */

type Strategies = InstanceType<typeof passport.Passport>;

export interface Credentials {
  email: string;
  password: string;
}

/** The login of people, with e-mail address and password. @returns the user with these credentials, or undefined */
export function createLoginStrategy<Who extends object>(
  check: (email: string, password: string) => Promise<Who | undefined>,
): (credentials: Credentials) => Promise<Who | undefined> {
  const strategies = new passport.Passport();
  strategies.use(
    'login',
    new LocalStrategy(
      { usernameField: 'email', passwordField: 'password', session: false },
      (email, password, done) => {
        check(email, password).then((who) => done(null, who ?? false), done);
      },
    ),
  );
  return async (credentials) => {
    const who = await run(strategies, 'login', { body: credentials });
    return who ? (who as Who) : undefined; // what `check` gave to `done`
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
    new BearerStrategy((token, done) => {
      verifier.verify(token).then((identity) => done(null, identity), done);
    }) as Strategy, // typed for an older release of passport, but compatible
  );
  return async (authorization) => {
    const identity = await run(strategies, 'identity', { headers: { authorization } });
    if (!identity) throw unauthenticated('An identity token is needed.');
    return identity as Identity; // the value that the verifier passed to `done`
  };
}

/** Passport is made for middleware: this is a request with what the strategies look at, and nothing to answer to. */
function run(
  strategies: Strategies,
  name: string,
  request: { body?: object; headers?: Record<string, string | undefined> },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown, user?: unknown) => {
      if (error) reject(error);
      else resolve(user);
    };
    const middleware = strategies.authenticate(name, { session: false }, settle);
    middleware({ headers: {}, ...request }, {}, reject);
  });
}
