import { createSigningKey, publicKeys } from './keys.ts';

it('a key signs with ES256 under the name that it was given', async () => {
  expect(await createSigningKey('key-1')).toEqual({
    ...{ kid: 'key-1', alg: 'ES256', use: 'sig', kty: 'EC', crv: 'P-256' },
    ...{ x: expect.any(String), y: expect.any(String), d: expect.any(String) },
  });
});

it('what is shown of a key is its public half, whatever else it holds', async () => {
  const { d: _private, ...shown } = await createSigningKey('key-1');
  expect(publicKeys({ keys: [{ ...shown, d: _private, oth: [], k: 'secret' }] })).toEqual({ keys: [shown] });
});
