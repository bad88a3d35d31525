import type { Page } from 'playwright-core';
import { barriersIn } from './axe.ts';
import { usePlatform } from './use-platform.ts';

const { open } = usePlatform();

async function openForms() {
  const seen = await open();
  let sent = 0;
  seen.page.on('request', (request) => (sent += Number(request.postData()?.includes('"password"') ?? false)));
  return { ...seen, sent: () => sent };
}

/** What assistive technology reports of the field that has the focus. */
const shown = (page: Page) =>
  page.evaluate<{ label: string; isWrong: boolean; says: string }>(`(() => {
    const { labels, ariaInvalid, ariaDescribedByElements } = document.activeElement;
    return {
      label: labels?.[0]?.textContent,
      isWrong: ariaInvalid === 'true',
      says: ariaDescribedByElements?.[0]?.textContent,
    };
  })()`);

it('an empty sign-in is not sent: it says what is missing, on the first field that is', async () => {
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

it('an e-mail address is typed once, whichever way in it is then', async () => {
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

it('all that is wrong with a new account is said at once', async () => {
  const { page, says, button, field, sent } = await openForms();
  await page.getByRole('link', { name: 'Create an account' }).click();
  await field('E-mail').fill('ada');
  await field('Password').fill('short');
  await button('Create the account').click();
  await says('Name must have 1 to 255 characters.');
  await says('E-mail must be an e-mail address.');
  await says('Password must have 8 to 128 characters.');
  expect(sent()).toBe(1);
  expect(await shown(page)).toEqual({ label: 'Name', isWrong: true, says: 'Name must have 1 to 255 characters.' });
});

it.each([
  ['Change the password', ['Type your current password.', 'Type the new password.'], 'Current password'],
  ['Send the link', ['Type the new address.', 'Type your password.'], 'New address'],
  [
    'Delete the account',
    ['Type your password.', 'That is not the address of this account.'],
    'Confirm with your password',
  ],
])('an empty form of the account says all that is missing, and is not sent: %s', async (deed, sentences, label) => {
  const { page, signUp, goTo, says, button, sent } = await openForms();
  await signUp();
  const before = sent();
  await goTo('Account');
  await button(deed).click();
  for (const sentence of sentences) await says(sentence);
  expect(await shown(page)).toEqual({ label, isWrong: true, says: sentences[0] });
  expect(sent()).toBe(before);
});
