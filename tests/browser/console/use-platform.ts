import { ownInstallation } from '@taskmesh/testing';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { useEmbedded } from '../../embedded.ts';
import { mailedToken } from '../../mails.ts';
import { launchBrowser, visit } from './browser.ts';
import { useConsole } from './screen.ts';

/** Provides a browser for the tests of a file. */
export function useBrowser(url: () => string) {
  jest.setTimeout(180_000); // tests have many steps, each of which may be slow
  let browser: Browser;
  const visits: Awaited<ReturnType<typeof visit>>[] = [];
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
  const { dataDir, platform } = useEmbedded(async () => {
    const { POSTGRES_URL, DATABASE_PREFIX } = ownInstallation();
    return { POSTGRES_URL, DATABASE_PREFIX, ...(await settings()) };
  });
  const url = () => platform().url;
  return {
    ...useBrowser(url),
    url,
    /** The operators' token of this machine. */
    machineToken: () => platform().machineToken,
    /** Waits for an e-mail to this address with a link to this page, and returns the newest such link. */
    linkTo: async (page: string, email: string) => `${url()}/${page}#token=${await mailedToken(dataDir, email, page)}`,
  };
}
