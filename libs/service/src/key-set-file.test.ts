import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from './config.ts';
import { readKeySetFile } from './key-set-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'taskmesh-keys-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(content: string): string {
  const path = join(folder, 'keys.json');
  writeFileSync(path, content);
  return path;
}

describe('a file of keys', () => {
  it('gives the keys as they are, with what else is said of them', () => {
    const keys = [{ kty: 'EC', kid: 'one', crv: 'P-256', x: 'x', y: 'y' }];
    expect(readKeySetFile({ KEYS: fileOf(JSON.stringify({ keys })) }, 'KEYS')).toEqual({ keys });
  });

  it.each(['', 'no JSON', '{}', '{"keys":[]}', '{"keys":[{"kty":"EC"}]}'])('is refused with %j in it', (content) => {
    expect(() => readKeySetFile({ KEYS: fileOf(content) }, 'KEYS')).toThrow(ConfigError);
  });

  it('is refused, with the name of the variable, when it is not there', () => {
    expect(() => readKeySetFile({ KEYS: join(folder, 'nowhere') }, 'KEYS')).toThrow(/KEYS must name .*nowhere/);
  });

  it('may be missing: the settings tell that', () => {
    expect(readKeySetFile({}, 'KEYS')).toEqual({ keys: [] });
  });
});
