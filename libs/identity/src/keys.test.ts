import { exportJWK, generateKeyPair } from 'jose';
import { makeTempDir } from '@taskmesh/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@taskmesh/service';
import { createSigningKey, publicKeys, readKeySetFile, readSigningKeyFile } from './keys.ts';

it('a key signs with ES256 under its key id', async () => {
  expect(await createSigningKey('key-1')).toEqual({
    ...{ kid: 'key-1', alg: 'ES256', use: 'sig', kty: 'EC', crv: 'P-256' },
    ...{ x: expect.any(String), y: expect.any(String), d: expect.any(String) },
  });
});

it('exposes only the public half of a key', async () => {
  const { d: _private, ...shown } = await createSigningKey('key-1');
  expect(publicKeys({ keys: [{ ...shown, d: _private, oth: [], k: 'secret' }] })).toEqual({ keys: [shown] });
});

const folder = makeTempDir();

function fileOf(content: string): string {
  const path = join(folder, 'keys.json');
  writeFileSync(path, content);
  return path;
}

describe('a key file', () => {
  it('returns the keys unchanged, with all their properties', async () => {
    const keys = [{ ...(await createSigningKey('one')), more: 'said' }];
    expect(readKeySetFile({ KEYS: fileOf(JSON.stringify({ keys })) }, 'KEYS')).toEqual({ keys });
  });

  it('is refused if it contains a key of another kind', async () => {
    const { privateKey } = await generateKeyPair('ES384', { extractable: true });
    const [good, other] = [await createSigningKey('one'), { ...(await exportJWK(privateKey)), kid: 'two' }];
    for (const bad of [other, { ...good, x: 'x' }, { ...good, kid: undefined }]) {
      expect(() => readKeySetFile({ KEYS: fileOf(JSON.stringify({ keys: [good, bad] })) }, 'KEYS')).toThrow(
        ConfigError,
      );
      expect(() => readSigningKeyFile({ KEYS: fileOf(JSON.stringify(bad)) }, 'KEYS')).toThrow(ConfigError);
    }
  });

  it.each(['', 'no JSON', '{}', '{"keys":[]}', '{"keys":[{"kty":"EC"}]}'])('is refused with %j in it', (content) => {
    expect(() => readKeySetFile({ KEYS: fileOf(content) }, 'KEYS')).toThrow(ConfigError);
  });

  it('is refused, with the name of the variable, if it is missing', () => {
    expect(() => readKeySetFile({ KEYS: join(folder, 'nowhere') }, 'KEYS')).toThrow(/KEYS must name .*nowhere/);
  });

  it('must be named', () => {
    expect(() => readKeySetFile({}, 'KEYS')).toThrow('KEYS is needed');
  });

  it('may contain one private key, but not a public one', async () => {
    const key = await createSigningKey('gateway-1');
    expect(readSigningKeyFile({ KEY: fileOf(JSON.stringify(key)) }, 'KEY')).toEqual(key);
    for (const other of [{ ...key, d: undefined }, { ...key, kid: undefined }, { keys: [key] }, []])
      expect(() => readSigningKeyFile({ KEY: fileOf(JSON.stringify(other)) }, 'KEY')).toThrow(
        'KEY must name a readable private ES256 JWK',
      );
  });
});
