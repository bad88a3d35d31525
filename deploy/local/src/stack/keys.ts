import { writeJson } from '@taskmesh/local-servers';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSigningKey, publicKeys } from '@taskmesh/identity';

/** The services that sign internal tokens. */
const SIGNERS = ['gateway', 'backup', 'tasks'] as const;

/** The files with the keys of a local platform. Only their owner can read the private ones. */
export type KeyFiles = Awaited<ReturnType<typeof ensureKeyFiles>>;

/** Creates missing keys. Existing ones are kept, so that tokens stay valid after a restart. */
export async function ensureKeyFiles(dir: string) {
  const file = (name: string) => join(dir, `${name}.json`);
  const files = {
    /** JWK set that signs access tokens. */
    accessTokens: file('access-tokens'),
    /** Private JWK of each internal signer. */
    signers: { gateway: file('gateway-identity'), backup: file('backup-identity'), tasks: file('tasks-identity') },
    /** JWK set with the public keys of all internal signers. */
    publicKeys: file('identity-public'),
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
