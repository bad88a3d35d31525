import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { visit, type Visit } from '../console/browser.ts';

/** Opens the operators' part, and signs in there. */
export async function visitAsOperator(
  browser: Browser,
  url: string,
  token: string,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const visited = await visit(browser, `${url}/#/operations`, options);
  await visited.page.getByRole('textbox', { name: 'Operators’ token' }).fill(token);
  await visited.page.getByRole('button', { name: 'Sign in' }).click();
  await visited.page.getByRole('heading', { name: 'Overview' }).waitFor();
  return visited;
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
