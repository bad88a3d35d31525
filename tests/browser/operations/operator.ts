import { operatorsAddress } from '@taskmesh/local';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { usePlatform } from '../console/use-platform.ts';

/** Provides the platform in one process, this machine's token and a browser for the tests of a file. */
export function useOperatedPlatform() {
  const platform = usePlatform();
  const { url, machineToken } = platform;
  const token = () => machineToken()?.token ?? '';
  return {
    ...platform,
    token,
    /** The operators' address as a terminal shows it, with a one-time code. */
    address: () => operatorsAddress(url(), machineToken(), { isTerminal: true }).split(' ')[0] ?? '',
    async openAsOperator(options: BrowserContextOptions = {}) {
      const visited = await platform.open(options, `${url()}/#/operations`);
      await signInAsOperator(visited.page, token());
      return { ...visited, ...useOperations(visited.page) };
    },
  };
}

/** Signs in on the operators' page. */
export async function signInAsOperator(page: Page, token: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Operators’ token' }).fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

/** Reads and uses the operators' part of the console as a person does. */
export function useOperations(page: Page) {
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });
  const row = (file: string) => page.getByRole('listitem').filter({ hasText: file });
  return {
    button,
    /** The row of an archive. */
    row,
    goTo: (view: string) => page.getByRole('navigation').getByRole('link', { name: view }).click(),
    says: (text: string | RegExp) => page.getByText(text).first().waitFor(),
    /** Waits until the work with this title has ended. */
    ends: (title: string, how: 'done' | 'failed') =>
      page.getByRole('heading', { name: `${title}: ${how}`, exact: true }).waitFor({ timeout: 90_000 }),
    async typeName(name: string) {
      await page.getByRole('textbox', { name: 'Name of the archive' }).fill(name);
      await page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    },
  };
}
