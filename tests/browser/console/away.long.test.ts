import { createFaultyProxy } from '@taskmesh/testing';
import { logIn, register } from '../../http.ts';
import { usePlatform } from './use-platform.ts';

const { url, open } = usePlatform();

it('lists keep their tasks while the server is unreachable, across views and filters, and continue when it is back', async () => {
  const { hostname: host, port } = new URL(url());
  const network = await createFaultyProxy({ host, port: Number(port) });
  const address = `http://${network.host}:${network.port}`;
  const { page, signUp, add, tick, lists, titles, settles, goTo, isAt, says } = await open({}, address);
  const account = await signUp();
  for (const title of ['first', 'second', 'third']) await add(title);
  await lists(['third', 'second', 'first']);
  await tick('second');
  await lists(['third', 'first']);
  await settles();
  const show = (state: string) => page.getByRole('radio', { name: state, exact: true }).check();
  const lookAtAccountAndBack = async () => {
    await goTo('Account');
    await says(`You sign in as ${account.email}.`);
    expect(await page.locator('.loading').count()).toBe(0);
    await goTo('Tasks');
    await isAt('Tasks');
  };
  await lookAtAccountAndBack();
  await show('All');
  await lists(['third', 'second', 'first']);
  await show('Open');
  await lists(['third', 'first']);

  await network.cut();
  await says('Not connected: changes are kept');
  await lookAtAccountAndBack();
  expect([await titles(), await page.locator('.loading').count()]).toEqual([['third', 'first'], 0]);
  await show('All');
  await lists(['third', 'second', 'first']);
  await lookAtAccountAndBack();
  expect(await page.getByRole('radio', { name: 'All' }).isChecked()).toBe(true);
  expect([await titles(), await page.locator('.loading').count()]).toEqual([['third', 'second', 'first'], 0]);
  await show('Done'); // never read before, and the previous list must not be shown for it
  await says('Waiting for the server…');
  await lists([]);
  await show('Open');
  await lists(['third', 'first']);
  await add('written meanwhile');
  await lists(['written meanwhile', 'third', 'first']);
  await lookAtAccountAndBack();
  await says('Not connected: changes are kept, 1 waiting');
  expect(await titles()).toEqual(['written meanwhile', 'third', 'first']);

  await goTo('Sessions'); // never read before; it loads once the server is back
  await says('The server cannot be reached.');

  await (await logIn(url(), account)).create('from elsewhere');
  await network.restore();
  await says('This device');
  await goTo('Tasks');
  await lists(['written meanwhile', 'from elsewhere', 'third', 'first']);
  await page.getByText('Not connected').waitFor({ state: 'detached' });
  await show('Done');
  await lists(['second']);
});

it('keeps users signed in across tabs only if they chose so', async () => {
  const account = await register(url());
  const { page, signIn, isAt, button } = await open();
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

  await signIn(account, { stays: true });
  expect(await openTab()).toBe('Tasks');
  await button('Sign out').click();
  await isAt('Sign in');
  expect(await openTab()).toBe('Sign in');
  expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
  expect(await page.evaluate('document.cookie')).toBe('');
});
