import { eventually } from '@taskmesh/testing';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { clientOf, type Platform } from './client.ts';

const kidOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;

/** Rotates the signing key as the runbook says, while users work. */
export function describeKeyRotation(platform: () => Platform) {
  const client = clientOf(platform);

  it('rotates its signing keys without refusing a valid token at any moment', async () => {
    const { email, token: before } = await client.signUp();
    const { accessKeysFile } = platform();
    const stored = JSON.parse(readFileSync(accessKeysFile, 'utf8'));
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const fresh = { ...privateKey.export({ format: 'jwk' }), kid: 'rotated', alg: 'ES256', use: 'sig' };
    writeFileSync(`${accessKeysFile}.new`, JSON.stringify({ keys: [fresh, ...stored.keys] }), { mode: 0o600 });
    renameSync(`${accessKeysFile}.new`, accessKeysFile);

    const statuses: number[] = [];
    const use = async (token: string) => {
      statuses.push((await client.call('GET', '/api/auth/me', { token })).status);
      statuses.push((await client.call('GET', '/full/api/tasks', { token })).status);
    };
    await eventually(async () => {
      const { access_token } = (await client.logIn(email)).body;
      for (const token of [before, access_token]) await use(token);
      expect(kidOf(access_token)).toBe('rotated');
    });
    expect(kidOf(before)).not.toBe('rotated');
    await use(before);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { body, text } = await client.call<{ keys: { kid: string }[] }>('GET', '/.well-known/jwks.json');
    expect(body.keys.map(({ kid }) => kid)).toEqual(['rotated', kidOf(before)]);
    expect(text).not.toMatch(/"d"/);
  });
}
