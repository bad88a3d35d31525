import { operatorsAddress } from '@taskmesh/local';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { usePlatform } from '../console/use-platform.ts';

/** The platform in one process with this machine's token, and a browser, for the tests of a file. */
export function useOperatedPlatform() {
  const platform = usePlatform();
  const { url, machineToken } = platform;
  const token = () => machineToken()?.token ?? '';
  return {
    ...platform,
    token,
    /** Where the terminal would show that operators begin. */
    address: () => operatorsAddress(url(), machineToken(), { isTerminal: true }).split(' ')[0] ?? '',
    async openAsOperator(options: BrowserContextOptions = {}) {
      const visited = await platform.open(options, `${url()}/#/operations`);
      await signInAsOperator(visited.page, token());
      return { ...visited, ...useOperations(visited.page) };
    },
  };
}

/** At the operators' part. */
export async function signInAsOperator(page: Page, token: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Operators’ token' }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** The operators' part of the console as somebody who looks at it sees and uses it. */
export function useOperations(page: Page) {
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });
  const row = (file: string) => page.getByRole('listitem').filter({ hasText: file });
  return {
    button,
    /** Of an archive. */
    row,
    goTo: (view: string) => page.getByRole('navigation').getByRole('link', { name: view }).click(),
    says: (text: string | RegExp) => page.getByText(text).first().waitFor(),
    /** Waits until work has ended like this. */
    ends: (title: string, how: 'done' | 'failed') =>
      page.getByRole('heading', { name: `${title}: ${how}`, exact: true }).waitFor({ timeout: 90_000 }),
    async typeName(name: string) {
      await page.getByRole('textbox', { name: 'Name of the archive' }).fill(name);
      await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    },
  };
}
