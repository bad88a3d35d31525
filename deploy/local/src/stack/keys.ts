import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSigningKey, publicKeys } from '@taskmesh/identity';
import { writeJson } from '../write-whole.ts';

/** Who signs internal tokens. */
const SIGNERS = ['gateway', 'backup', 'tasks'] as const;

/** The files with the keys of a local platform; private ones are for their owner's eyes. */
export type KeyFiles = Awaited<ReturnType<typeof ensureKeyFiles>>;

/** Makes the keys that are not there yet; a restart keeps them, so that tokens stay valid. */
export async function ensureKeyFiles(dir: string) {
  const files = {
    /** JWK set that access tokens are signed with. */
    accessTokens: join(dir, 'access-tokens.json'),
    /** Private JWK of each internal signer. */
    signers: {
      gateway: join(dir, 'gateway-identity.json'),
      backup: join(dir, 'backup-identity.json'),
      tasks: join(dir, 'tasks-identity.json'),
    },
    /** JWK set: the public halves of all internal signers. */
    publicKeys: join(dir, 'identity-public.json'),
  };
  if (!existsSync(files.accessTokens))
    writeJson(files.accessTokens, { keys: [await createSigningKey(`access-${randomUUID()}`)] });
  for (const signer of SIGNERS)
    if (!existsSync(files.signers[signer]))
      writeJson(files.signers[signer], await createSigningKey(`${signer}-${randomUUID()}`));
  const identityKeys = SIGNERS.map((signer) => JSON.parse(readFileSync(files.signers[signer], 'utf8')));
  writeJson(files.publicKeys, publicKeys({ keys: identityKeys }));
  return files;
}
