import { startEmbedded, type Embedded } from '@taskmesh/all-in-one';
import { eventually, ownInstallation } from '@taskmesh/testing';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchBrowser, visit, type Visit } from './browser.ts';
import { useConsole } from './screen.ts';

/** Provides a browser for the tests of a file. */
export function useBrowser(url: () => string) {
  jest.setTimeout(180_000); // tests have many steps, each of which may be slow
  let browser: Browser;
  const visits: Visit[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    for (const { problems, close } of visits.splice(0)) {
      await close();
      expect(problems).toEqual([]);
    }
  });
  return {
    browser: () => browser,
    /** Opens the console in a browser context of its own. Problems in the page fail the test. */
    async open(options: BrowserContextOptions = {}, address = url()) {
      const visited = await visit(browser, address, options);
      visits.push(visited);
      return { ...visited, ...useConsole(visited.page) };
    },
  };
}

/** Provides the platform in one process, and a browser, for the tests of a file. */
export function usePlatform(settings: () => Promise<Record<string, string>> = async () => ({})) {
  const dataDir = mkdtempSync(join(tmpdir(), 'taskmesh-console-'));
  let platform: Embedded;

  beforeAll(async () => {
    const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
    const env = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', POSTGRES_URL, DATABASE_PREFIX };
    platform = await startEmbedded({ env: { ...env, ...(await settings()) }, progress: () => {} });
  });
  afterAll(async () => {
    await platform.stop();
    rmSync(dataDir, { recursive: true });
  });
  return {
    ...useBrowser(() => platform.url),
    url: () => platform.url,
    /** The operators' token of this machine. */
    machineToken: () => platform.machineToken,
    /** Waits for an e-mail to this address with a link to this page, and returns the newest such link. */
    linkTo: (page: string, email: string) =>
      eventually(() => {
        const mails = readdirSync(join(dataDir, 'mail')).toSorted();
        const texts = mails.map((name) => readFileSync(join(dataDir, 'mail', name), 'utf8'));
        const link = new RegExp(`^\\S+(/${page}#token=\\S+)$`, 'm');
        const mail = texts.findLast((text) => text.includes(`To: ${email}`) && link.test(text));
        if (mail === undefined) throw new Error('There is no such mail yet.');
        return `${platform.url}${link.exec(mail)?.[1]}`;
      }),
  };
}
