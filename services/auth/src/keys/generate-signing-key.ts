import { createSigningKey } from '@taskmesh/identity';
import { ignoreOutputErrors } from '@taskmesh/service';
import { randomUUID } from 'node:crypto';

// node scripts/run.mjs services/auth/src/keys/generate-signing-key.ts prints a new private key for the key file's `keys`.
ignoreOutputErrors();
process.stdout.write(`${JSON.stringify(await createSigningKey(`access-${randomUUID()}`))}\n`);
