import { createFaultyProxy } from '@taskmesh/testing';
import { newAccount } from '../../client/device.ts';
import { createRest } from '../../support/http.ts';
import { visit } from './browser.ts';
import { useConsole } from './screen.ts';
import { usePlatform } from './use-platform.ts';

const { url, browser } = usePlatform();

it('lists stay as they were while the server is away, behind other views and filters too, and continue when it is back', async () => {
  const { hostname: host, port } = new URL(url());
  const network = await createFaultyProxy({ host, port: Number(port) });
  const { page, problems, close } = await visit(browser(), `http://${network.host}:${network.port}`);
  const { signUp, add, tick, lists, titles, settles, goTo, says } = useConsole(page);
  const account = newAccount();
  await signUp(account);
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
    await page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor();
  };
  await goTo('Account');
  await says(`You sign in as ${account.email}.`);
  await goTo('Tasks');
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
  await show('Done'); // was never read, and is not what was shown before
  await says('Waiting for the server…');
  await lists([]);
  await show('Open');
  await lists(['third', 'first']);
  await add('written meanwhile');
  await lists(['written meanwhile', 'third', 'first']);
  await lookAtAccountAndBack();
  await says('Not connected: changes are kept, 1 waiting');
  expect(await titles()).toEqual(['written meanwhile', 'third', 'first']);

  await goTo('Sessions'); // was never read: it is when somebody answers again
  await says('The server cannot be reached.');

  const rest = createRest(url());
  const { body } = await rest<{ access_token: string }>('POST', '/auth/login', { body: account });
  await rest('POST', '/tasks', { token: body.access_token, body: { title: 'from elsewhere' } });
  await network.restore();
  await says('This device');
  await goTo('Tasks');
  await lists(['written meanwhile', 'from elsewhere', 'third', 'first']);
  await page.getByText('Not connected').waitFor({ state: 'detached' });
  await show('Done');
  await lists(['second']);
  expect(problems).toEqual([]);
  await close();
  await network.close();
});
