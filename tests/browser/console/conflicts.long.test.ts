import { register } from '../../http.ts';
import { usePlatform } from './use-platform.ts';

const { url, open } = usePlatform();

/** More than a window has room for. */
const TASKS = Array.from({ length: 30 }, (_, index) => `task ${index}`);

it('notifies a user who has scrolled down that a change waits for a decision, and leads there', async () => {
  const account = await register(url());
  const ids: string[] = [];
  for (const title of TASKS) ids.push(await account.create(title));
  const { page, signIn, titleOf, field, button, says, lists } = await open();
  await signIn(account);
  await titleOf('task 0').click();
  await account.change(ids[0] ?? '', { title: 'theirs' });
  await says('This task has been changed elsewhere in the meantime.');
  await field('Title').fill('mine');
  await field('Title').press('Enter');

  await button('1 change to decide on').click();
  expect(await page.evaluate(`document.activeElement.closest('.side').innerText`)).toMatch(/^Your change\s+mine$/);
  await page.waitForFunction(`document.querySelector('.conflict').getBoundingClientRect().top >= 56`);
  await button('1 change to decide on').waitFor({ state: 'detached' });
  await button('Save my choice').click();
  await lists([...TASKS.slice(1).toReversed(), 'mine']);
});
