import { newAccount } from '../../client/device.ts';
import { createRest } from '../../support/http.ts';
import { visit } from './browser.ts';
import { useConsole } from './screen.ts';
import { usePlatform } from './use-platform.ts';

const { url, browser } = usePlatform();

/** More than a window has room for. */
const TASKS = Array.from({ length: 30 }, (_, index) => `task ${index}`);

it('notifies a user who has scrolled down that a change waits for a decision, and leads there', async () => {
  const account = newAccount();
  const rest = createRest(url());
  const { body } = await rest<{ access_token: string }>('POST', '/auth/signup', { body: { ...account, name: 'Ada' } });
  const token = body.access_token;
  const ids = new Map<string, string>();
  for (const title of TASKS) {
    const created = await rest<{ data: { id: string } }>('POST', '/tasks', { token, body: { title } });
    ids.set(title, created.body.data.id);
  }
  const { page, problems, close } = await visit(browser(), url());
  const { signIn, titleOf, field, button, says, lists } = useConsole(page);
  await signIn(account);
  await titleOf('task 0').click();
  await rest('PATCH', `/tasks/${ids.get('task 0')}`, { token, body: { title: 'theirs' } });
  await says('This task has been changed elsewhere in the meantime.');
  await field('Title').fill('mine');
  await field('Title').press('Enter');

  await button('1 change to decide on').click();
  expect(await page.evaluate(`document.activeElement.closest('.side').innerText`)).toMatch(/^Your change\s+mine$/);
  await page.waitForFunction(`document.querySelector('.conflict').getBoundingClientRect().top >= 56`);
  await button('1 change to decide on').waitFor({ state: 'detached' });
  await button('Save my choice').click();
  await lists([...TASKS.slice(1).toReversed(), 'mine']);
  expect(problems).toEqual([]);
  await close();
});
