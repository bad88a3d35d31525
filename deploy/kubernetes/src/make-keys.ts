import { createSigningKey, publicKeys } from '@taskmesh/identity';
import { randomBytes, randomUUID } from 'node:crypto';

const TOKEN_BYTES = 32;

export async function makeKeys(): Promise<Record<string, string>> {
  const gateway = await createSigningKey(`gateway-${randomUUID()}`);
  const backup = await createSigningKey(`backup-${randomUUID()}`);
  const tasks = await createSigningKey(`tasks-${randomUUID()}`);
  return {
    'access-token-keys.json': JSON.stringify({ keys: [await createSigningKey(`access-${randomUUID()}`)] }),
    'gateway-identity.json': JSON.stringify(gateway),
    'backup-identity.json': JSON.stringify(backup),
    'tasks-identity.json': JSON.stringify(tasks),
    'identity-public.json': JSON.stringify(publicKeys({ keys: [gateway, backup, tasks] })),
    'backup-token': randomBytes(TOKEN_BYTES).toString('base64url'),
  };
}
