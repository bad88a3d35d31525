import { unauthenticated, unavailable } from '@taskmesh/contracts';
import {
  ANONYMOUS,
  createIdentitySigner,
  createIdentityVerifier,
  createSigningKey,
  GATEWAY_ROLES,
  publicKeys,
} from '@taskmesh/identity';
import { createIdentityStrategy, createLoginStrategy, type Credentials } from './passport.ts';

describe('the login strategy', () => {
  const ada = { name: 'Ada' };
  const login = createLoginStrategy(async ({ email, password }: Credentials) => {
    if (email === 'broken') throw unavailable();
    return email === 'ada@example.com' && password === 'right' ? ada : undefined;
  });

  it('returns the account of the credentials', async () => {
    expect(await login({ email: 'ada@example.com', password: 'right' })).toBe(ada);
  });

  it.each([
    ['another password', { email: 'ada@example.com', password: 'wrong' }],
    ['no password', { email: 'ada@example.com', password: '' }],
    ['nothing', { email: '', password: '' }],
  ])('returns no user for %s', async (_what, credentials) => {
    expect(await login(credentials)).toBeUndefined();
  });

  it('passes failures of the check on', async () => {
    await expect(login({ email: 'broken', password: 'x' })).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

describe('the identity strategy', () => {
  const clock = { now: () => 1_800_000_000_000 };

  async function createEnds(audience = 'auth') {
    const key = await createSigningKey('gateway');
    const signer = createIdentitySigner({ issuer: 'gateway', key, clock });
    const verifier = createIdentityVerifier({
      audience: 'auth',
      keys: publicKeys({ keys: [key] }),
      callers: { gateway: GATEWAY_ROLES },
      clock,
    });
    return { authenticate: createIdentityStrategy(verifier), token: await signer.tokenFor(ANONYMOUS, audience) };
  }

  it('gives the identity of a token; the case of the scheme does not matter', async () => {
    const { authenticate, token } = await createEnds();
    for (const scheme of ['Bearer', 'bearer', 'BEARER'])
      expect(await authenticate(`${scheme} ${token}`)).toEqual(ANONYMOUS);
  });

  it('rejects a token for another service', async () => {
    const { authenticate, token } = await createEnds('tasks');
    await expect(authenticate(`Bearer ${token}`)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it.each([[undefined], [''], ['Bearer'], ['Bearer '], ['Basic abc'], ['Bearer a b'], ['Bearer nonsense']])(
    'refuses %j',
    async (authorization) => {
      const { authenticate } = await createEnds();
      await expect(authenticate(authorization)).rejects.toMatchObject({ code: unauthenticated().code });
    },
  );
});
