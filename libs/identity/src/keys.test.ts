import { exportJWK, generateKeyPair } from 'jose';
import { makeTempDir } from '@taskmesh/testing';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '@taskmesh/service';
import { createSigningKey, readKeySetFile, readSigningKeyFile } from './keys.ts';

const folder = makeTempDir();

function fileOf(content: string): string {
  const path = join(folder, 'keys.json');
  writeFileSync(path, content);
  return path;
}

describe('a key file', () => {
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

  it('is refused with the name of the variable; a value that names no file is not shown, because it may be a key', async () => {
    const read = (KEYS: string) => () => readKeySetFile({ KEYS }, 'KEYS');
    expect(read(JSON.stringify(await createSigningKey('pasted')))).toThrow(/KEYS must name .*\(is: not shown\)$/);
    expect(read(fileOf('nonsense'))).toThrow(/KEYS must name .*keys\.json"\)$/);
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
