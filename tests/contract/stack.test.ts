import { startStack, type Stack } from '@taskmesh/local';
import { ownInstallation } from '@taskmesh/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeContract } from './contract.ts';

describe('the stack of separate processes keeps the contract:', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-contract-'));
  const publicUrl = 'https://tasks.example.com';
  let stack: Stack;

  beforeAll(async () => {
    const env = {
      PATH: process.env.PATH,
      LOG_LEVEL: 'warn',
      PUBLIC_URL: publicUrl,
      ...ownInstallation(),
    };
    stack = await startStack({ dataDir, env, log: () => {} });
  }, 120_000);
  afterAll(async () => {
    await stack.stop();
    rmSync(dataDir, { recursive: true });
  }, 30_000);

  describeContract(() => ({
    url: stack.urls[0] ?? '',
    publicUrl,
    dataDir,
    accessKeysFile: join(dataDir, 'keys', 'access-tokens.json'),
    identityKeyFile: join(dataDir, 'keys', 'gateway-identity.json'),
  }));
});
