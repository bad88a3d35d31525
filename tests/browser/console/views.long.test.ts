import { eventually } from '@taskmesh/testing';
import type { Page } from 'playwright-core';
import { register } from '../../http.ts';
import { barriersIn } from './axe.ts';
import { usePlatform } from './use-platform.ts';

const { url, open } = usePlatform();

const VISITS = 5;

/** Returns when the form was ready, in milliseconds after navigation. @throws while it is not */
async function readyAt(page: Page): Promise<number> {
  const at = await page.evaluate<number | undefined>('window.readyAt');
  if (at === undefined) throw new Error('The form is not ready.');
  return at;
}

it('visitors can type their e-mail address within a second', async () => {
  const times: number[] = [];
  for (let count = 0; count < VISITS; count += 1) {
    const { page } = await open({}, 'about:blank');
    await page.addInitScript(`addEventListener('focusin', () => (window.readyAt ??= performance.now()));`);
    await page.goto(url());
    times.push(await eventually(() => readyAt(page)));
  }
  console.log(`The console is ready after ${times.map(Math.round).join(', ')} ms.`);
  expect(Math.min(...times)).toBeLessThan(1_000);
});

/** More tasks than fit into a window. */
const TASKS = Array.from({ length: 30 }, (_, index) => `task ${index}`);

it('shows a user who has scrolled down that a change needs a decision, and leads there', async () => {
  const account = await register(url());
  const ids: string[] = [];
  for (const title of TASKS) ids.push(await account.create(title));
  const { page, signIn, titleOf, field, button, says, lists } = await open();
  await signIn(account);
  await titleOf('task 0').click();
  await account.change(ids[0] ?? '', { title: 'theirs' });
  await says('This task has been changed elsewhere in the meantime.');
  await field('Title').fill('mine');
  await field('Title').press('Enter');

  await button('1 change to decide on').click();
  expect(await page.evaluate(`document.activeElement.closest('.side').innerText`)).toMatch(/^Your change\s+mine$/);
  await page.waitForFunction(`document.querySelector('.conflict').getBoundingClientRect().top >= 56`);
  await button('1 change to decide on').waitFor({ state: 'detached' });
  await button('Save my choice').click();
  await lists([...TASKS.slice(1).toReversed(), 'mine']);
});

it('shows the next page when all tasks of the first one are done elsewhere', async () => {
  const account = await register(url());
  const ids: string[] = [];
  for (let count = 0; count < 52; count += 1) ids.push(await account.create(`task ${count}`));
  const { signIn, says, lists } = await open();
  await signIn(account);
  await says('50 of 52 shown');
  for (const id of ids.slice(2)) await account.change(id, { completed: true });
  await lists(['task 1', 'task 0']);
});

it('a double click acts on one task, and a category filters once it is typed', async () => {
  const { page, beginWith, lists } = await open();
  await beginWith('first', 'second', 'third', 'fourth');
  await page.locator('.tick').first().dblclick();
  await lists(['third', 'second', 'first']);
  await page.locator('.remove').first().dblclick();
  await lists(['second', 'first']);
  let reads = 0;
  page.on('request', (request) => (reads += Number(request.postData()?.includes('query ReadTasks') ?? false)));
  const category = page.getByRole('search').getByRole('combobox', { name: 'Category' });
  await category.pressSequentially('shopping');
  await category.press('Enter');
  await page.getByText('Nothing matches').waitFor();
  expect(reads).toBe(1);
});

/** Lists the parts of the open editor that are off the screen or covered. */
const HIDDEN_PARTS = `[...document.querySelectorAll('.editor :is(input, select, textarea, button)')].filter((part) => {
  const { x, y, width, height } = part.getBoundingClientRect();
  return !part.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}).map((part) => part.textContent || part.labels[0].textContent)`;

const PHONE = { width: 375, height: 700 };
const DESK = { width: 1280, height: 800 };
/** A height that fits one line of text, but not two. */
const ONE_LINE = 60;
/** Long before the notice would disappear by itself. */
const AT_ONCE = { timeoutMs: 2_000 };

it.each([PHONE, DESK])('an opened editor is fully on the screen, in a window of %j', async (viewport) => {
  const { page, signUp, add, lists, titleOf, field } = await open({ viewport });
  await signUp();
  const titles = TASKS.slice(0, 7);
  for (const title of titles) await add(title);
  await lists(titles.toReversed());
  for (const title of titles.toReversed()) {
    await titleOf(title).click();
    expect(await field('Title').inputValue()).toBe(title);
    await eventually(async () => expect(await page.evaluate<string[]>(HIDDEN_PARTS)).toEqual([]));
    await page.keyboard.press('Escape');
  }
});

it('a notice with an Undo button takes one line on a phone, and disappears in another view', async () => {
  const { page, signUp, add, lists, tick, goTo } = await open({ viewport: PHONE });
  const title = 'Bring the bicycle to the workshop, and ask whether the brakes can be mended until Friday';
  const messages = page.getByRole('status', { name: 'Messages' });
  await signUp();
  await add(title);
  await lists([title]);
  await tick(title);
  await messages.getByText(title).waitFor();
  expect((await messages.boundingBox())?.height).toBeLessThan(ONE_LINE);
  await goTo('Sessions');
  await eventually(async () => expect(await messages.getByRole('button').count()).toBe(0), AT_ONCE);
});

const LONG = 'papers and letters '.repeat(14).slice(0, 255).trim();
const WITHOUT_BLANKS = 'x'.repeat(255);

it.each([PHONE, DESK])(
  'a very long category takes one line, and is shown in full in the tooltip and the editor, in a window of %j',
  async (viewport) => {
    const account = await register(url());
    const create = (title: string, category: string) =>
      account.create(title, { category, due_date: '2999-01-01T00:00:00Z' });
    await create('with a short one', 'home');
    await create('with a long one', LONG);
    await create('without blanks', WITHOUT_BLANKS);
    const { page, signIn, lists, titleOf } = await open({ viewport });
    await signIn(account);
    await lists(['without blanks', 'with a long one', 'with a short one']);
    const categories = page.locator('.meta .category bdi');
    const heights = await Promise.all((await categories.all()).map(async (each) => (await each.boundingBox())?.height));
    expect(new Set(heights).size).toBe(1);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await categories.nth(1).getAttribute('title')).toBe(LONG);
    await titleOf('with a long one').click();
    expect(await page.getByRole('form').getByRole('combobox', { name: 'Category' }).inputValue()).toBe(LONG);
  },
);

async function openForms() {
  const seen = await open();
  let sent = 0;
  seen.page.on('request', (request) => (sent += Number(request.postData()?.includes('"password"') ?? false)));
  return { ...seen, sent: () => sent };
}

/** Returns what assistive technology reports about the focused field. */
const shown = (page: Page) =>
  page.evaluate<{ label: string; isWrong: boolean; says: string }>(`(() => {
    const { labels, ariaInvalid, ariaDescribedByElements } = document.activeElement;
    return {
      label: labels?.[0]?.textContent,
      isWrong: ariaInvalid === 'true',
      says: ariaDescribedByElements?.[0]?.textContent,
    };
  })()`);

it('an empty sign-in is not sent: the form names the missing fields, and focuses the first one', async () => {
  const { page, says, button, field, sent } = await openForms();
  await field('E-mail').press('Enter');
  await says('Type your e-mail address.');
  await says('Type your password.');
  expect(await shown(page)).toEqual({ label: 'E-mail', isWrong: true, says: 'Type your e-mail address.' });
  expect(await barriersIn(page)).toEqual([]);
  await page.keyboard.type('ada@example.com');
  await button('Sign in').click();
  await page.getByText('Type your e-mail address.').waitFor({ state: 'detached' });
  expect(await shown(page)).toEqual({ label: 'Password', isWrong: true, says: 'Type your password.' });
  expect(sent()).toBe(0);
  await page.keyboard.type('not this one');
  await page.keyboard.press('Enter');
  await page.getByText('Type your password.').waitFor({ state: 'detached' });
  await page.getByRole('alert').waitFor();
  expect(sent()).toBe(1);
});

it('an e-mail address is typed once for all forms', async () => {
  const { page, button, field } = await openForms();
  await field('E-mail').fill('ada@example.com');
  for (const [link, heading] of [
    ['Forgot your password?', 'Reset your password'],
    ['Back to sign in', 'Sign in'],
    ['Create an account', 'Create an account'],
  ] as const) {
    await page.getByRole('link', { name: link }).click();
    await page.getByRole('heading', { name: heading }).waitFor();
    expect(await field('E-mail').inputValue()).toBe('ada@example.com');
  }
  await field('E-mail').fill('eve@example.com');
  await page.getByRole('link', { name: 'I have an account: sign in' }).click();
  await button('Sign in').waitFor();
  expect(await field('E-mail').inputValue()).toBe('eve@example.com');
});

it('all errors of a sign-up are shown at once', async () => {
  const { page, says, submit, sent } = await openForms();
  await page.getByRole('link', { name: 'Create an account' }).click();
  await submit('Create the account', { 'E-mail': 'ada', Password: 'short' });
  const ofName = 'Name must have 1 to 255 characters.';
  for (const text of [ofName, 'E-mail must be an e-mail address.', 'Password must have 8 to 128']) await says(text);
  expect(sent()).toBe(1);
  expect(await shown(page)).toEqual({ label: 'Name', isWrong: true, says: ofName });
});

it('an empty account form names all missing fields, and is not sent', async () => {
  const { page, signUp, goTo, says, button, sent } = await openForms();
  await signUp();
  const before = sent();
  await goTo('Account');
  for (const [deed, label, first, second] of [
    ['Change the password', 'Current password', 'Type your current password.', 'Type the new password.'],
    ['Send the link', 'New address', 'Type the new address.', 'Type your password.'],
    [
      'Delete the account',
      'Confirm with your password',
      'Type your password.',
      'That is not the address of this account.',
    ],
  ] as const) {
    await button(deed).click();
    for (const sentence of [first, second]) await says(sentence);
    expect(await shown(page)).toEqual({ label, isWrong: true, says: first });
  }
  expect(sent()).toBe(before);
});
