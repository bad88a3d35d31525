import { startStack, type Stack } from '@taskmesh/local';
import { nodeEnvironment, ownInstallation } from '@taskmesh/testing';
import type { Browser } from 'playwright-core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from './browser.ts';
import { takeJourney } from './journey.ts';

describe('the console of two gateways before separate processes', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-console-'));
  let stack: Stack;
  let browser: Browser;

  beforeAll(async () => {
    const env = { ...nodeEnvironment(), LOG_LEVEL: 'warn', ...ownInstallation() };
    stack = await startStack({ dataDir, gateways: 2, env, log: () => {} });
    browser = await launchBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await stack.stop();
    rmSync(dataDir, { recursive: true });
  }, 180_000);

  it.each([0, 1])(
    'leads a new user from the account to the sign-out at gateway %i',
    async (index) => {
      await takeJourney(browser, stack.urls[index] ?? '');
    },
    180_000,
  );
});
