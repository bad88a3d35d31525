import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSigningKey, publicKeys, type KeySet } from '@taskmesh/identity';

/** Who signs internal tokens. */
export const SIGNERS = ['gateway', 'backup'] as const;

/** The files with the keys of a local platform; private ones are for their owner's eyes. */
export interface KeyFiles {
  /** JWK set that access tokens are signed with. */
  accessTokens: string;
  /** Private JWK of each internal signer. */
  signers: Record<(typeof SIGNERS)[number], string>;
  /** JWK set: the public halves of all internal signers. */
  publicKeys: string;
}

/** Makes the keys that are not there yet; a restart keeps them, so that tokens stay valid. */
export async function ensureKeyFiles(dir: string): Promise<KeyFiles> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const files: KeyFiles = {
    accessTokens: join(dir, 'access-tokens.json'),
    signers: { gateway: join(dir, 'gateway-identity.json'), backup: join(dir, 'backup-identity.json') },
    publicKeys: join(dir, 'identity-public.json'),
  };
  if (!existsSync(files.accessTokens)) {
    const keys: KeySet = { keys: [await createSigningKey(`access-${randomUUID()}`)] };
    writeWhole(files.accessTokens, keys);
  }
  for (const signer of SIGNERS)
    if (!existsSync(files.signers[signer]))
      writeWhole(files.signers[signer], await createSigningKey(`${signer}-${randomUUID()}`));
  const identityKeys = SIGNERS.map((signer) => JSON.parse(readFileSync(files.signers[signer], 'utf8')));
  writeWhole(files.publicKeys, publicKeys({ keys: identityKeys }));
  return files;
}

function writeWhole(file: string, content: unknown): void {
  writeFileSync(`${file}.new`, JSON.stringify(content, undefined, 2), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
