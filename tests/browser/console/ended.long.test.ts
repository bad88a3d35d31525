import { newAccount } from '../../client/device.ts';
import { createRest } from '../../support/http.ts';
import { visit } from './browser.ts';
import { useConsole } from './screen.ts';
import { usePlatform } from './use-platform.ts';

const { url, browser } = usePlatform();

const login = async (account: { email: string; password: string }) => {
  const { body } = await createRest(url())<{ access_token: string }>('POST', '/auth/login', { body: account });
  return body.access_token;
};

it('notifies a user whose session ended elsewhere, in any view, and keeps what they wrote until they sign in', async () => {
  const { page, close } = await visit(browser(), url());
  const { signUp, signIn, add, lists, goTo, says, settles } = useConsole(page);
  const account = newAccount();
  await signUp(account);
  await add('written before');
  await lists(['written before']);
  await settles();

  await page.context().setOffline(true);
  await add('written offline');
  await lists(['written offline', 'written before']);
  await goTo('Account');
  await createRest(url())('DELETE', '/auth/sessions', { token: await login(account) });
  await page.context().setOffline(false);
  await says('You were signed out: your session has ended here, or was ended on another device.');
  await signIn(account).catch(() => undefined); // it goes on in the view where it was
  await goTo('Tasks');
  await lists(['written offline', 'written before']);
  await settles();
  const { body } = await createRest(url())<{ count: number }>('GET', '/tasks', { token: await login(account) });
  expect(body.count).toBe(2);
  await close();
});

it('shows the sign-in to a user who is signed out in the tab of their sign-up', async () => {
  const { page, close } = await visit(browser(), url());
  const { signUp, says } = useConsole(page);
  const account = newAccount();
  await signUp(account);
  await createRest(url())('DELETE', '/auth/sessions', { token: await login(account) });
  await says('You were signed out');
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Sign in');
  await close();
});

it('keeps users signed in in other tabs only if they chose so', async () => {
  const account = newAccount();
  await createRest(url())('POST', '/auth/signup', { body: { ...account, name: 'Ada' } });
  const { page, close } = await visit(browser(), url());
  const { signIn, button } = useConsole(page);
  const openTab = async () => {
    const tab = await page.context().newPage();
    await tab.goto(url());
    await tab.getByRole('heading', { level: 1 }).waitFor();
    const heading = await tab.getByRole('heading', { level: 1 }).textContent();
    await tab.close();
    return heading;
  };
  await signIn(account);
  expect(await openTab()).toBe('Sign in');
  expect(await page.evaluate('localStorage.length')).toBe(0);
  await button('Sign out').click();

  await page.getByRole('checkbox', { name: 'Keep me signed in' }).check();
  await signIn(account);
  expect(await openTab()).toBe('Tasks');
  await button('Sign out').click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await openTab()).toBe('Sign in');
  expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
  expect(await page.evaluate('document.cookie')).toBe('');
  await close();
});

it('keeps pending changes across a reload', async () => {
  const { page, close } = await visit(browser(), url());
  const { signUp, add, lists, titleOf, field, says, button, settles } = useConsole(page);
  const account = newAccount();
  const rest = createRest(url());
  await signUp(account);
  await add('to be changed');
  await lists(['to be changed']);
  await settles();
  const token = await login(account);
  const { data } = (await rest<{ data: { id: string }[] }>('GET', '/tasks', { token })).body;

  // The server does not answer: what is written waits, and goes with the page into storage.
  await page.route('**/graphql', (route) => route.abort());
  await add('kept');
  await titleOf('to be changed').click();
  await field('Title').fill('changed here');
  await field('Title').press('Enter');
  await lists(['kept', 'changed here']);
  await rest('PATCH', `/tasks/${data[0]?.id}`, { token, body: { title: 'changed there' } });
  await page.unroute('**/graphql');
  await page.reload();
  await says('“changed there” was changed elsewhere, too');
  await lists(['kept', 'changed there']);
  await button('Save my choice').click();
  await lists(['kept', 'changed here']);
  await close();
});
