import { eventually } from '@taskmesh/testing';
import type { Page } from 'playwright-core';
import { newAccount, type Account } from '../../client/device.ts';
import { createRest } from '../../support/http.ts';
import { visit } from './browser.ts';
import { useConsole } from './screen.ts';
import { usePlatform } from './use-platform.ts';

/** Access tokens live for this long: all that lasts longer needs a refresh. */
const TOKEN_S = 6;
const { url, browser } = usePlatform(async () => ({ ACCESS_TOKEN_TTL_S: String(TOKEN_S) }));

const rest = () => createRest(url());
const login = async (account: Account) => {
  const { body } = await rest()<{ access_token: string }>('POST', '/auth/login', { body: account });
  return body.access_token;
};
const tokensOf = (page: Page) => page.evaluate<string>(`sessionStorage.getItem('taskmesh.session')`);
const isRefreshed = async (page: Page) => {
  const before = await tokensOf(page);
  await eventually(async () => expect(await tokensOf(page)).not.toBe(before), { timeoutMs: 40_000 });
  expect(await tokensOf(page)).not.toBeNull();
};

it('a tab that is copied continues, and its copy asks for a sign-in of its own instead of sharing its tokens', async () => {
  const { page, problems, close } = await visit(browser(), url());
  const { signUp, add, lists, settles } = useConsole(page);
  const account = newAccount();
  await signUp(account);
  await add('first');
  await lists(['first']);
  await settles();

  const opened = page.context().waitForEvent('page');
  await page.evaluate('void open(location.href)'); // as "Duplicate" does: with what the tab keeps
  const copy = await opened;
  const inCopy = useConsole(copy);
  await inCopy.says('This tab is a copy of another one');
  expect(await copy.evaluate('sessionStorage.length')).toBe(0);
  await inCopy.signIn(account);
  await inCopy.lists(['first']);

  for (const each of [page, copy]) {
    await isRefreshed(each);
    await each.reload(); // which makes no copy of it
    await useConsole(each).lists(['first']);
  }
  await inCopy.add('second');
  await lists(['second', 'first']);
  expect(problems).toEqual([]);
  await close();
}, 180_000);

it.each([
  ['the device', true],
  ['the tab', false],
])('what waited in %s is done once, wherever the next session is kept', async (_where, staysFirst) => {
  const { page, close } = await visit(browser(), url());
  const { signIn, tick, lists, settles, says, goTo } = useConsole(page);
  const account = newAccount();
  await rest()('POST', '/auth/signup', { body: { ...account, name: 'Ada' } });
  const token = await login(account);
  const { body } = await rest()<{ data: { id: string } }>('POST', '/tasks', { token, body: { title: 'to be done' } });
  await rest()('POST', '/tasks', { token, body: { title: 'to be done next' } });
  const stay = async (stays: boolean) => {
    if (stays) await page.getByRole('checkbox', { name: 'Keep me signed in' }).check();
  };
  await stay(staysFirst);
  await signIn(account);
  await lists(['to be done next', 'to be done']);
  await page.route('**/graphql', (route) => route.abort());
  await tick('to be done');
  await tick('to be done next');
  await lists([]);
  await rest()('DELETE', '/auth/sessions', { token: await login(account) });
  await page.unroute('**/graphql');
  await says('You were signed out');
  await stay(!staysFirst);
  await signIn(account);
  await settles();

  const path = `/tasks/${body.data.id}`;
  const again = await login(account);
  await eventually(async () => {
    const { body: read } = await rest()<{ data: { completed: boolean } }>('GET', path, { token: again });
    expect(read.data.completed).toBe(true);
  });
  await rest()('PATCH', path, { token: await login(account), body: { completed: false } });
  await lists(['to be done']);
  await page.reload();
  await goTo('Tasks');
  await lists(['to be done']);
  await settles();
  const { body: now } = await rest()<{ data: { completed: boolean } }>('GET', path, { token: await login(account) });
  expect(now.data.completed).toBe(false);
  await close();
});

it.each([
  ['asks before it closes', false, ['beforeunload']],
  ['closes without a question', true, []],
])('a tab %s while something waits (kept on the device: %s)', async (_what, stays, asked) => {
  const { page, close } = await visit(browser(), url());
  const { signIn, add, lists, says } = useConsole(page);
  const account = newAccount();
  await rest()('POST', '/auth/signup', { body: { ...account, name: 'Ada' } });
  if (stays) await page.getByRole('checkbox', { name: 'Keep me signed in' }).check();
  await signIn(account);
  await says('Nothing to do yet');
  await page.route('**/graphql', (route) => route.abort());
  await add('waits');
  await lists(['waits']);
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.type());
    void dialog.accept();
  });
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await closed;
  expect(dialogs).toEqual(asked);
  await close();
});

it('the second tab of a device asks before it closes while something waits, as the device keeps that of the first one', async () => {
  const { page, close } = await visit(browser(), url());
  const account = newAccount();
  await rest()('POST', '/auth/signup', { body: { ...account, name: 'Ada' } });
  await page.getByRole('checkbox', { name: 'Keep me signed in' }).check();
  await useConsole(page).signIn(account);
  const second = await page.context().newPage();
  await second.goto(url());
  const { add, lists, says } = useConsole(second);
  await says('Nothing to do yet');
  await second.route('**/graphql', (route) => route.abort());
  await add('waits');
  await lists(['waits']);
  const asked = second.waitForEvent('dialog');
  const closing = second.close({ runBeforeUnload: true });
  const dialog = await asked;
  expect(dialog.type()).toBe('beforeunload');
  await dialog.accept();
  await closing;
  await close();
});

describe('two tabs of a device', () => {
  const openBoth = async () => {
    const { page, close } = await visit(browser(), url());
    const account = newAccount();
    await rest()('POST', '/auth/signup', { body: { ...account, name: 'Ada' } });
    await page.getByRole('checkbox', { name: 'Keep me signed in' }).check();
    await useConsole(page).signIn(account);
    await useConsole(page).says('Nothing to do yet');
    const second = await page.context().newPage();
    await second.goto(url());
    await useConsole(second).says('Nothing to do yet');
    return { page, second, close };
  };
  const stored = (page: Page) => page.evaluate<string>('JSON.stringify({ ...localStorage })');

  it('keep no text and sign out together, whichever of them signs out', async () => {
    const { page, second, close } = await openBoth();
    await page.route('**/graphql', (route) => route.abort());
    await useConsole(page).add('a private text');
    await eventually(async () => expect(await stored(second)).toContain('a private text'));
    await useConsole(second).button('Sign out').click();
    await Promise.all([page, second].map((each) => useConsole(each).button('Sign in').waitFor()));
    expect(await stored(page)).toBe('{}');
    await close();
  }, 180_000);

  it('stay with the user who has signed in last, when a refresh for the one before is answered late', async () => {
    const { page, second, close } = await openBoth();
    await second.evaluate(`localStorage.setItem('taskmesh.session',
      JSON.stringify({ ...JSON.parse(localStorage.getItem('taskmesh.session')), refreshAt: 0 }))`);
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const { promise: refreshed, resolve: refresh } = Promise.withResolvers<void>();
    await second.route('**/graphql', async (route) => {
      if (!route.request().postData()?.includes('refreshSession')) return route.continue();
      const response = await route.fetch();
      refresh();
      await answered;
      return route.fulfill({ response }).catch(() => undefined); // the page may be gone
    });
    await second.reload();
    await refreshed;
    const other = newAccount();
    await rest()('POST', '/auth/signup', { body: { ...other, name: 'Bob' } });
    await useConsole(page).button('Sign out').click();
    await page.getByRole('checkbox', { name: 'Keep me signed in' }).check();
    await useConsole(page).signIn(other);
    const late = second.waitForEvent('requestfinished', (request) =>
      Boolean(request.postData()?.includes('refreshSession')),
    );
    answer();
    await late;
    for (const each of [second, page]) {
      await each.reload();
      await useConsole(each).says('Bob');
    }
    expect(await stored(page)).toContain(other.email);
    await close();
  }, 180_000);
});

it('a change that is refused after the session has ended is reported to its author, when they are back', async () => {
  const { page, close } = await visit(browser(), url());
  const { signUp, signIn, add, lists, settles, titleOf, field, says, button } = useConsole(page);
  const account = newAccount();
  await signUp(account);
  await add('first');
  await lists(['first']);
  await settles();
  const token = await login(account);
  const { body } = await rest()<{ data: { id: string }[] }>('GET', '/tasks', { token });
  await page.route('**/graphql', (route) => route.abort());
  await titleOf('first').click();
  await field('Title').fill('changed here');
  await field('Title').press('Enter');
  await lists(['changed here']);
  await rest()('PATCH', `/tasks/${body.data[0]?.id}`, { token, body: { title: 'changed there' } });
  await rest()('DELETE', '/auth/sessions', { token });
  await page.unroute('**/graphql');
  await says('You were signed out');
  await signIn(account);
  await says('“first” was changed elsewhere, too');
  await button('Save my choice').click();
  await lists(['changed here']);
  await close();
});

it('what was typed when the session ended is there again for the same user only', async () => {
  const { page, close } = await visit(browser(), url());
  const { signUp, signIn, add, lists, settles, titleOf, field, says, button } = useConsole(page);
  const [account, other] = [newAccount(), newAccount()];
  await rest()('POST', '/auth/signup', { body: { ...other, name: 'Eve' } });
  await signUp(account);
  await add('first');
  await lists(['first']);
  await settles();
  await titleOf('first').click();
  await field('Title').fill('first, changed');
  await field('New task').fill('second, half typed');
  const end = async () => {
    await rest()('DELETE', '/auth/sessions', { token: await login(account) });
    await says('You were signed out');
  };
  await end();
  await signIn(account);
  expect(await field('New task').inputValue()).toBe('second, half typed');
  await button('Save').click();
  await lists(['first, changed']);
  await settles();
  await end();
  await signIn(other);
  expect(await field('New task').inputValue()).toBe('');
  await close();
});
