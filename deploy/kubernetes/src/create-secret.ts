import { createSigningKey, publicKeys } from '@taskmesh/identity';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 10_000;
const MAX_ATTEMPTS = 5;
const CREATED = 201;
const CONFLICT = 409;

/**
 * Creates a secret in one step, so that it is complete or absent; does not change an existing one.
 * @returns whether it was created
 * @throws Error with a sentence that reveals nothing about the secret
 */
export async function createSecret(
  api: { url: string; token: string },
  { name, namespace, data }: { name: string; namespace: string; data: Record<string, string> },
): Promise<boolean> {
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name, namespace }, // with labels, a tool may treat it as part of the release and remove it
    stringData: data,
  });
  let reason = '';
  // Network policies may take a moment to apply to a new pod.
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    if (attempts > 0) await sleep(1_000 * attempts);
    try {
      const { status } = await fetch(`${api.url}/api/v1/namespaces/${namespace}/secrets`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${api.token}` },
        body,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (status === CREATED) return true;
      if (status === CONFLICT) return false;
      reason = `it responded with ${status}`;
      if (status < 500) break;
    } catch {
      reason = 'it does not respond';
    }
  }
  throw new Error(`The API server did not accept the secret ${name}: ${reason}.`);
}

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
