import { createIdentitySigner, createSigningKey, publicKeys, type Identity } from '@taskmesh/identity';
import { systemClock, type Env } from '@taskmesh/service';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { eventually, nodeEnvironment } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Busy machines are slow. */
const START = { timeoutMs: 60_000 };
const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** A file with the public keys of callers, and the gateway's signer. */
export async function createCaller(dir: string) {
  const key = await createSigningKey('gateway-1');
  const keysFile = join(dir, 'identity-public.json');
  await writeFile(keysFile, JSON.stringify(publicKeys({ keys: [key] })));
  return { keysFile, signer: createIdentitySigner({ issuer: 'gateway', key, clock: systemClock }) };
}

export type Caller = Awaited<ReturnType<typeof createCaller>>;

/** Runs auth as a process of its own, on free ports. */
export function spawnAuth(env: Env) {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...nodeEnvironment(), PORT: '0', ADMIN_PORT: '0', LOG_LEVEL: 'debug', RATE_LIMIT_FACTOR: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
  const addressOf = (message: string) =>
    eventually(() => {
      const line = output.split('\n').find((each) => each.includes(`"msg":"${message}"`));
      if (!line) throw new Error(`It does not say "${message}":\n${output}`);
      return String(JSON.parse(line).address);
    }, START);

  return {
    child,
    ended,
    output: () => output,
    url: () => addressOf('listening'),
    adminUrl: () => addressOf('admin server listening'),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      return ended;
    },
  };
}

export type AuthProcess = ReturnType<typeof spawnAuth>;

/** Calls auth as the gateway does. */
export async function post(
  url: string,
  options: { caller: Caller; identity?: Identity; query: string; variables?: object },
) {
  const { caller, identity = { role: 'anonymous', ip: '192.0.2.1' }, query, variables } = options;
  const token = await caller.signer.tokenFor(identity, 'auth');
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ query, variables }),
  });
  return (await response.json()) as SubgraphResult;
}
