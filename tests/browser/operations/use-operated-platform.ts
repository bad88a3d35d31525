import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { operatorsAddress } from '@taskmesh/local';
import { ownInstallation } from '@taskmesh/testing';
import type { Browser } from 'playwright-core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser } from '../console/browser.ts';

/** The platform in one process with this machine's token, and a browser, for the tests of a file. */
export function useOperatedPlatform(): {
  url(): string;
  token(): string;
  /** Where the terminal would show that operators begin. */
  address(): string;
  browser(): Browser;
} {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-operations-'));
  let platform: Embedded;
  let browser: Browser;

  beforeAll(async () => {
    const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
    const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', POSTGRES_URL, DATABASE_PREFIX };
    platform = await startEmbedded({ env, progress: () => {} });
    browser = await launchBrowser();
  }, 180_000);
  afterAll(async () => {
    await browser.close();
    await platform.stop();
    rmSync(dataDir, { recursive: true });
  }, 60_000);
  return {
    url: () => platform.url,
    token: () => platform.machineToken?.token ?? '',
    address: () => operatorsAddress(platform.url, platform.machineToken, { isTerminal: true }).split(' ')[0] ?? '',
    browser: () => browser,
  };
}
