import { eventually } from '@taskmesh/testing';
import type { Page } from 'playwright-core';
import { logIn, register, type Account } from '../../http.ts';
import { closeSilently, useConsole } from './screen.ts';
import { usePlatform } from './use-platform.ts';

/** The lifetime of access tokens: anything longer needs a refresh. */
const TOKEN_S = 6;
const { url, open } = usePlatform(async () => ({ ACCESS_TOKEN_TTL_S: String(TOKEN_S) }));

const tokensOf = (page: Page) => page.evaluate<string>(`sessionStorage.getItem('taskmesh.session')`);
const isRefreshed = async (page: Page) => {
  const before = await tokensOf(page);
  await eventually(async () => expect(await tokensOf(page)).not.toBe(before), { timeoutMs: 40_000 });
  expect(await tokensOf(page)).not.toBeNull();
};

/** Ends the session from elsewhere, while the tab cannot reach the server. */
async function endSession(page: Page, account: Account) {
  await (await logIn(url(), account)).endOtherSessions();
  await page.unroute('**/graphql');
  await useConsole(page).says('You were signed out');
}

it('a duplicated tab keeps working, and its copy asks for a sign-in instead of sharing its tokens', async () => {
  const { page, beginWith, lists } = await open();
  const account = await beginWith('first');

  const opened = page.context().waitForEvent('page');
  await page.evaluate('void open(location.href)'); // copies sessionStorage, as "Duplicate" does
  const copy = await opened;
  const inCopy = useConsole(copy);
  await inCopy.says('This tab is a copy of another one');
  expect(await copy.evaluate('sessionStorage.length')).toBe(0);
  await inCopy.signIn(account);
  await inCopy.lists(['first']);

  for (const each of [page, copy]) {
    await isRefreshed(each);
    await each.reload(); // a reload is not a copy
    await useConsole(each).lists(['first']);
  }
  await inCopy.add('second');
  await lists(['second', 'first']);
});

it.each([
  ['the device', true],
  ['the tab', false],
])('writes pending in %s are done once, wherever the next session is kept', async (_where, staysFirst) => {
  const { page, signIn, tick, lists, settles, goTo } = await open();
  const account = await register(url());
  const id = await account.create('to be done');
  await account.create('to be done next');
  await signIn(account, { stays: staysFirst });
  await lists(['to be done next', 'to be done']);
  await page.route('**/graphql', (route) => route.abort());
  await tick('to be done');
  await tick('to be done next');
  await lists([]);
  await endSession(page, account);
  await signIn(account, { stays: !staysFirst });
  await settles();

  const elsewhere = await logIn(url(), account);
  const isDone = async () => (await elsewhere.list()).find((task) => task.id === id)?.completed;
  await eventually(async () => expect(await isDone()).toBe(true));
  await elsewhere.change(id, { completed: false });
  await lists(['to be done']);
  await page.reload();
  await goTo('Tasks');
  await lists(['to be done']);
  await settles();
  expect(await isDone()).toBe(false);
});

/** Leaves a change pending, and closes the tab. Expects these questions. */
async function closesAfter(tab: Page, asked: string[]) {
  const { add, lists } = useConsole(tab);
  await tab.route('**/graphql', (route) => route.abort());
  await add('waits');
  await lists(['waits']);
  const dialogs: string[] = [];
  tab.on('dialog', (dialog) => {
    dialogs.push(dialog.type());
    void dialog.accept();
  });
  await closeSilently(tab);
  expect(dialogs).toEqual(asked);
}

it.each([
  ['asks before it closes', false, ['beforeunload']],
  ['closes without a question', true, []],
])('a tab %s with pending changes (kept on the device: %s)', async (_what, stays, asked) => {
  const { page, signIn, says } = await open();
  await signIn(await register(url()), { stays });
  await says('Nothing to do yet');
  await closesAfter(page, asked);
});

/** Two tabs that share the device's session. */
async function openTwo() {
  const { page, ...first } = await open();
  const account = await register(url());
  await first.signIn(account, { stays: true });
  const second = await page.context().newPage();
  await second.goto(url());
  await useConsole(second).says('Nothing to do yet');
  return { page, first, second, account };
}

it('a second tab asks before it closes with pending changes, because the device keeps only those of the first tab', async () => {
  const { second } = await openTwo();
  await closesAfter(second, ['beforeunload']);
});

it('a tab with a session of its own keeps its changes over a reload while another tab of the user is open, and asks before it closes, even after the session has ended', async () => {
  const { page, beginWith, add, lists, says, signIn, field } = await open();
  const account = await beginWith('first');
  const second = await page.context().newPage();
  await second.goto(url());
  await useConsole(second).signIn(account);
  await useConsole(second).lists(['first']);
  await page.route('**/graphql', (route) => route.abort());
  await add('waits');
  await lists(['waits', 'first']);
  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await says('1 waiting');
  await endSession(page, account);
  await field('E-mail').click(); // without a click, browsers do not ask
  const asked = page.waitForEvent('dialog');
  await page.evaluate('setTimeout(() => location.reload())');
  await (await asked).dismiss();
  await signIn(account);
  await lists(['waits', 'first']);
  await useConsole(second).says('You were signed out');
});

it('a sign-out asks about changes of other tabs, and says there afterwards what was lost and here what was not removed', async () => {
  const { page, first, second, account } = await openTwo();
  const { says, button } = useConsole(second);
  await page.route('**/graphql', (route) => route.abort());
  await first.add('waits');
  await first.lists(['waits']);
  await button('Sign out').click();
  await says('One change has not reached the server yet.');
  await button('Drop and sign out').click();
  await first.says('unless you signed out in another tab');
  await page.unroute('**/graphql');
  await first.signIn(account);
  await first.says('“waits” was not added');

  const tab = await page.evaluate<string>(`sessionStorage.getItem('taskmesh.tab')`);
  await second.evaluate(`void navigator.locks.request('taskmesh.${tab}.storage', () => new Promise(() => {}))`);
  await first.button('Sign out').click();
  await first.says('This browser may still keep your data.');
});

it('a change refused after the session ended is reported to its author at the next sign-in', async () => {
  const { page, beginWith, signIn, lists, rename, says, button } = await open();
  const account = await beginWith('first');
  const elsewhere = await logIn(url(), account);
  const [task] = await elsewhere.list();
  await page.route('**/graphql', (route) => route.abort());
  await rename('first', 'changed here');
  await lists(['changed here']);
  await elsewhere.change(task?.id ?? '', { title: 'changed there' });
  await endSession(page, account);
  await signIn(account);
  await says('“first” was changed elsewhere, too');
  await button('Save my choice').click();
  await lists(['changed here']);
});

it('text typed before the session ended is restored for the same user only', async () => {
  const { page, signIn, beginWith, lists, settles, titleOf, field, button } = await open();
  const [account, other] = [await beginWith('first'), await register(url())];
  await titleOf('first').click();
  await field('Title').fill('first, changed');
  await field('New task').fill('second, half typed');
  await endSession(page, account);
  await signIn(account);
  expect(await field('New task').inputValue()).toBe('second, half typed');
  await button('Save').click();
  await lists(['first, changed']);
  await settles();
  await endSession(page, account);
  await signIn(other);
  expect(await field('New task').inputValue()).toBe('');
});
