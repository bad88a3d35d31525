import { barriersIn } from '../console/axe.ts';
import { choose, focused, isOn, setTimeLimits, tabTo } from '../console/screen.ts';
import { signInAsOperator, useOperatedPlatform, useOperations } from './operator.ts';

const { url, token, open, openAsOperator } = useOperatedPlatform();

it.each([
  { viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
  { viewport: { width: 768, height: 1024 }, colorScheme: 'light' },
  { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
] as const)('no operators’ view has barriers, or is wider than the screen: %j', async (look) => {
  const { page, button, goTo, ends, says } = await openAsOperator(look);
  const inspect = async (what: string) => {
    expect([what, await barriersIn(page)]).toEqual([what, []]);
    expect([what, await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')]).toEqual([what, 0]);
  };
  await inspect('overview');
  await goTo('Backups');
  await button('Make a backup').click();
  await ends('Making a backup', 'done');
  await inspect('backups');
  for (const deed of [/^Restore taskmesh/, /^Delete taskmesh/]) {
    await button(deed).first().click();
    await page.getByRole('dialog').waitFor();
    await inspect(String(deed));
    await button('Cancel').click();
  }
  await goTo('Dead letters');
  await says('There are none: the feed delivers everything.');
  await inspect('dead letters');
  await button('Sign out').click();
  await page.getByRole('heading', { name: 'Operations' }).waitFor();
  await inspect('sign-in');
});

it('an archive is restored with the keyboard alone', async () => {
  const { page } = await open({}, `${url()}/#/operations`);
  const { keyboard } = page;
  const { ends } = useOperations(page);
  await tabTo(page, 'Operators’ token');
  await keyboard.type(token());
  await keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await choose(page, 'Backups');
  await page.getByRole('heading', { name: 'Backups', exact: true }).waitFor();
  await choose(page, 'Make a backup');
  await ends('Making a backup', 'done');
  await choose(page, 'Dismiss');
  await tabTo(page, 'Restore taskmesh');
  const name = (await focused(page)).replace('Restore ', '');
  await keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' }); // by the element, because a closed dialog has no role
  await isOn(page, `Restore ${name}`);
  await keyboard.press('Enter');
  await isOn(page, 'Name of the archive');
  await keyboard.type(name);
  await keyboard.press('Enter');
  await ends(`Restoring ${name}`, 'done');
});

it('polls the status every few seconds while the page is visible, pauses while it is hidden, and reports a silent server', async () => {
  const { page } = await open({}, `${url()}/#/operations`);
  await page.clock.install();
  await signInAsOperator(page, token());
  await page.getByText('All is well').waitFor();
  let asked = 0;
  page.on('request', (request) => (asked += Number(request.url().endsWith('/api/operations/status'))));
  const show = (isHidden: boolean) =>
    page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
  /** Advances the clock in steps, so that responses arrive in between. */
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      await page.clock.runFor(1_000);
      await page.evaluate(`fetch('/livez')`);
    }
  };
  const passUntilAsked = async (times: number) => {
    for (const until = asked + times; asked < until;) await pass(1);
  };
  await passUntilAsked(3);
  await show(true);
  const before = asked;
  await pass(30);
  expect(asked).toBe(before);
  await show(false);
  await page.waitForResponse(/operations\/status/);
  await passUntilAsked(2);
  await setTimeLimits(page);
  await page.route('**/operations/status', () => undefined);
  await passUntilAsked(1);
  await pass(31);
  await page.getByText('Cannot be reached now').waitFor();
});
