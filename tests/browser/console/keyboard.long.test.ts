import { eventually } from '@taskmesh/testing';
import { logIn, newAccount } from '../../http.ts';
import { choose, focused, isOn, tabTo } from './screen.ts';
import { usePlatform } from './use-platform.ts';

const { url, open } = usePlatform();

it('everything can be done with the keyboard alone', async () => {
  const { page, lists, says } = await open();
  const { keyboard } = page;
  const account = newAccount();
  const press = async (...keys: string[]) => {
    for (const key of keys) await keyboard.press(key);
  };

  await isOn(page, 'E-mail');
  await choose(page, 'Create an account');
  await isOn(page, 'Name');
  for (const text of ['Ada', account.email, account.password]) {
    await keyboard.type(text);
    await press('Tab');
  }
  await press('Shift+Tab', 'Enter');
  await says('Nothing to do yet');

  await isOn(page, 'New task');

  // The first tab stop skips the navigation.
  await choose(page, 'Skip to the content', 'Shift+Tab');
  await press('Tab');
  expect(await focused(page)).toBe('New task');
  for (const title of ['first', 'second', 'third']) {
    await keyboard.type(title);
    await press('Enter');
    expect(await focused(page)).toBe('New task');
  }
  await lists(['third', 'second', 'first']);
  await page.getByRole('status').filter({ hasText: '3 open, 0 done' }).waitFor();

  // When a row disappears, the focus moves to the next one.
  await tabTo(page, 'Done: third');
  await press('Space');
  await lists(['second', 'first']);
  await isOn(page, 'Done: second');
  await press('Tab');
  expect(await focused(page)).toBe('Edit second');
  await press('Enter');
  await isOn(page, 'Title');
  await keyboard.type(', changed');
  await press('Escape');
  await isOn(page, 'Edit second');
  await press('Enter');
  await isOn(page, 'Title');
  await press('End');
  await keyboard.type(', changed');
  await press('Enter');
  await lists(['second, changed', 'first']);
  await isOn(page, 'Edit second, changed');
  await press('Tab');
  expect(await focused(page)).toBe('Delete second, changed');
  await press('Enter');
  await lists(['first']);
  await isOn(page, 'Done: first');
  await press('Space');
  await says('All done');
  await isOn(page, 'New task');

  // Opens another view, and opens and cancels a dialog.
  await choose(page, 'Tokens', 'Shift+Tab');
  await page.locator('h1:focus', { hasText: 'Tokens' }).waitFor(); // the link has the same text
  await tabTo(page, 'Name');
  await keyboard.type('script');
  await press('Enter');
  await isOn(page, 'The token');
  await choose(page, 'End the token script');
  await isOn(page, 'Cancel');
  await press('Escape');
  await isOn(page, 'End the token script');
  await choose(page, 'Sign out', 'Shift+Tab');
  await isOn(page, 'E-mail');
});

it('changes from elsewhere do not take the focus', async () => {
  const { page, signUp, add, lists, titles, field, titleOf } = await open();
  const account = newAccount();
  await signUp(account);
  await add('mine');
  await lists(['mine']);
  const { create, change } = await logIn(url(), account);

  // Changes arrive while the user types a new task, and while they edit one.
  await field('New task').fill('half a ti');
  const other = await create('other');
  await lists(['other', 'mine']);
  expect(await focused(page)).toBe('New task');
  expect(await field('New task').inputValue()).toBe('half a ti');
  await titleOf('mine').click();
  await field('Title').fill('mine, half');
  await page.keyboard.press('ArrowLeft');
  const third = await create('third');
  await change(other, { completed: true });
  await eventually(async () => expect(await titles()).toEqual(['third']));
  expect(await focused(page)).toBe('Title');
  await page.keyboard.type('-');
  expect(await field('Title').inputValue()).toBe('mine, hal-f');

  // Ordered by the last change, rows move around the focused one.
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Last changed');
  await lists(['mine, hal-f', 'third']);
  await page.getByRole('checkbox', { name: 'Done: third' }).focus();
  await change(third, { priority: 'high' });
  await lists(['third', 'mine, hal-f']);
  expect(await focused(page)).toBe('Done: third');
});
