import { eventually } from '@taskmesh/testing';
import type { Page } from 'playwright-core';
import { type Account, newAccount } from '../../http.ts';

/** Returns the name of the focused element as a screen reader reads it. */
export const focused = (page: Page) =>
  page.evaluate<string>(`(() => {
    const element = document.activeElement;
    return element.getAttribute('aria-label') ?? element.labels?.[0]?.textContent ?? element.textContent;
  })()`);
export const isOn = (page: Page, what: string) => eventually(async () => expect(await focused(page)).toBe(what));

/** Presses Tab until the focus is on something whose name begins like this. @throws if it cannot be reached */
export async function tabTo(page: Page, what: string, key = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press(key);
    if ((await focused(page)).startsWith(what)) return;
  }
  throw new Error(`The focus never came to “${what}”.`);
}

/** Goes to something with the keyboard alone, and uses it. */
export async function choose(page: Page, what: string, key?: string): Promise<void> {
  await tabTo(page, what, key);
  await page.keyboard.press('Enter');
}

/** Closes a tab, which must not ask a question. */
export async function closeSilently(page: Page): Promise<void> {
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await closed;
}

/** Makes the page's own time limits follow the clock of the test, which does not set the timer of `AbortSignal.timeout`. */
export const setTimeLimits = (page: Page) =>
  page.evaluate(`AbortSignal.timeout = (ms) => {
    const giveUp = new AbortController();
    setTimeout(() => giveUp.abort(), ms);
    return giveUp.signal;
  }`);

/** Reads and uses the console as a person does: by its texts, labels and keys. */
export function useConsole(page: Page) {
  const button = (name: string | RegExp) => page.getByRole('button', { name });
  const field = (name: string) => page.getByRole('textbox', { name, exact: true });
  const titleOf = (title: string) => page.getByRole('button', { name: `Edit ${title}`, exact: true });
  const found = `[...document.querySelectorAll('.tasks .title')].map(({ lastChild }) => lastChild.textContent)`;
  const titles = () => page.evaluate<string[]>(found);
  const screen = {
    button,
    field,
    titleOf,
    /** The titles of the tasks from top to bottom. */
    titles,
    async signUp(account = newAccount()) {
      await screen.follow('Create an account');
      await screen.submit('Create the account', { Name: 'Ada', 'E-mail': account.email, Password: account.password });
      await screen.isAt('Tasks');
      return account;
    },
    async signIn(account: Account, { stays = false } = {}) {
      if (stays) await page.getByRole('checkbox', { name: 'Keep me signed in' }).check();
      await screen.submit('Sign in', { 'E-mail': account.email, Password: account.password });
      await screen.isAt('Tasks');
    },
    /** Fills in a form, and presses its button. */
    async submit(deed: string | RegExp, fields: Record<string, string> = {}) {
      for (const [name, text] of Object.entries(fields)) await field(name).fill(text);
      await button(deed).click();
    },
    async add(title: string) {
      await field('New task').fill(title);
      await field('New task').press('Enter');
    },
    /** Changes the title of a task. */
    async rename(title: string, next: string) {
      await titleOf(title).click();
      await field('Title').fill(next);
      await field('Title').press('Enter');
    },
    /** Signs up, adds these tasks, and waits until the server has them. */
    async beginWith(...tasks: string[]) {
      const account = await screen.signUp();
      for (const title of tasks) await screen.add(title);
      await screen.lists(tasks.toReversed());
      await screen.settles();
      return account;
    },
    tick: (title: string) => page.getByRole('checkbox', { name: `Done: ${title}`, exact: true }).click(),
    goTo: (view: string) => page.getByRole('navigation').getByRole('link', { name: view }).click(),
    /** Waits until a heading is there: of a view, or of a page. */
    isAt: (heading: string) => page.getByRole('heading', { name: heading, exact: true }).waitFor(),
    follow: (link: string) => page.getByRole('link', { name: link }).click(),
    /** Waits until this text is on the page. */
    says: (text: string | RegExp) => page.getByText(text).first().waitFor(),
    /** Waits until the server has all changes. */
    settles: () => page.locator('.waits').first().waitFor({ state: 'detached' }),
    /** Waits until the list has exactly these tasks. */
    lists: (expected: string[]) => eventually(async () => expect(await titles()).toEqual(expected)),
  };
  return screen;
}
