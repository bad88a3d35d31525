import type { Page } from 'playwright-core';
import { type Owner, register } from '../../http.ts';
import { barriersIn } from './axe.ts';
import { usePlatform } from './use-platform.ts';

const { url, open } = usePlatform();

const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };

describe.each([
  ['light', DESK],
  ['dark', PHONE],
] as const)('in %s colours, in a window of %j', (colorScheme, viewport) => {
  let account: Owner;
  let seen: Awaited<ReturnType<typeof open>>;
  let page: Page;

  beforeAll(async () => {
    account = await register(url());
    const tasks = [
      { title: 'Overdue and important', due_date: '2020-01-01T00:00:00Z', priority: 'high', category: 'papers' },
      { title: 'Later', due_date: '2999-01-01T00:00:00Z', priority: 'low', description: 'With a word on it.' },
      { title: 'Done', completed: true, category: 'home' },
      { title: 'Plain' },
    ];
    for (const { title, ...more } of tasks) await account.create(title, more);
  });

  beforeEach(async () => {
    seen = await open({ colorScheme, viewport });
    page = seen.page;
  });
  afterEach(async () => {
    expect(await barriersIn(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect([...seen.origins]).toEqual([url()]);
  });
  const signedIn = async () => {
    await seen.signIn(account);
    await seen.says('Plain');
    return seen;
  };

  it('the sign-in form, the sign-up form and the recovery form have no barriers, and explain errors', async () => {
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('Type your e-mail address.').waitFor();
    expect(await barriersIn(page)).toEqual([]);
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByRole('button', { name: 'Create the account' }).click();
    await page.getByText('E-mail must be an e-mail address.').waitFor();
    expect(await barriersIn(page)).toEqual([]);
    await page.getByRole('link', { name: 'I have an account: sign in' }).click();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    expect(await barriersIn(page)).toEqual([]);
    await seen.submit('Send the link', { 'E-mail': 'unknown@example.com' });
    await page.getByText('an e-mail with a link is on its way').waitFor();
  });

  it('confirming a new address has no barriers, and missing or wrong input is explained', async () => {
    const isIn = async (...texts: string[]) => {
      for (const text of texts) await page.getByText(text).first().waitFor();
      expect(await barriersIn(page)).toEqual([]);
    };
    await page.goto(`${url()}/confirm-email`);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await isIn('Enter the password of the account');
    await seen.submit('Confirm', { 'Token from the e-mail': 'nonsense', 'Password of your account': 'a guess' });
    await isIn('Token is not valid');
    await page.getByRole('link', { name: 'Open Taskmesh' }).click();
    await signedIn();
    await page.goto(`${url()}/#/account?token=nonsense`);
    await page.getByRole('button', { name: 'Confirm the new address' }).click();
    await isIn('Token is not valid');
  });

  it('the tasks have no barriers', async () => {
    const { says } = await signedIn();
    await page.getByRole('radio', { name: 'All' }).check();
    await says('Done');
  });

  it('changing and adding tasks has no barriers', async () => {
    const { button, titleOf, says, submit } = await signedIn();
    await titleOf('Later').click();
    await submit('Save', { Title: 'no' });
    await says('A title has at least 3 characters.');
    await button('Due date, priority, category').click();
    await button('Add').click();
    await says('A task needs a title.');
  });

  it('an empty list has no barriers', async () => {
    await signedIn();
    await page.getByRole('combobox', { name: 'Category' }).fill('nothing has this');
    await page.getByRole('combobox', { name: 'Category' }).press('Enter');
    await page.getByText('Nothing matches').waitFor();
  });

  it('a conflict, a deleted task and a notice with an Undo button have no barriers', async () => {
    const { button, field, titleOf, says, add, settles } = await signedIn();
    const title = `Disputed ${viewport.width} ${colorScheme}`;
    await add(title);
    await add(`Lost ${title}`);
    await says(`Lost ${title}`);
    await settles();
    const tasks = await account.list();
    const idOf = (name: string) => tasks.find((task) => task.title === name)?.id ?? '';
    for (const [name, disturb] of [
      [title, () => account.change(idOf(title), { title: 'Theirs' })],
      [`Lost ${title}`, () => account.remove(idOf(`Lost ${title}`))],
    ] as const) {
      await titleOf(name).click();
      await field('Title').fill(`${name}, mine`);
      await disturb();
      await page.getByText(/has been changed elsewhere in the meantime|no longer in this list/).waitFor();
      expect(await barriersIn(page)).toEqual([]);
      await field('Title').press('Enter');
    }
    await says(/was changed elsewhere, too/);
    await says(/was deleted elsewhere while you changed it/);
    await button('Delete Theirs').click();
    await says('Deleted “Theirs”.');
  });

  it('being offline, and signing out while offline, has no barriers', async () => {
    const { says, add, button } = await signedIn();
    await page.context().setOffline(true);
    await add('Written offline');
    await says('Offline: changes are kept, 1 waiting');
    expect(await barriersIn(page)).toEqual([]);
    await button('Sign out').click();
    await says('One change has not reached the server yet.');
  });

  it.each(['Account', 'Sessions', 'Tokens', 'Activity'])('the view %s has no barriers', async (name) => {
    const { goTo, button, says, submit } = await signedIn();
    await goTo(name);
    await page.getByRole('heading', { name, exact: true }).waitFor();
    await page.locator('.loading').waitFor({ state: 'detached' });
    if (name !== 'Tokens') return;
    await submit('Make the token', { Name: 'My script' });
    await says('it is shown only once');
    expect(await barriersIn(page)).toEqual([]);
    await button('End the token My script').first().click();
    await says('It cannot be brought back.');
  });
});

it.each(['/reset-password', '/confirm-email', '/nothing-here'])('the page %s has no barriers', async (path) => {
  const { page } = await open({}, `${url()}${path}`);
  expect(await barriersIn(page)).toEqual([]);
});
