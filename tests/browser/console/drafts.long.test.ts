import { newAccount } from '../../client/device.ts';
import { visit } from './browser.ts';
import { useConsole } from './screen.ts';
import { usePlatform } from './use-platform.ts';

const { url, browser } = usePlatform();

/** Two tasks; in the older one something is typed that is not saved. */
async function typeInFirst(title: string) {
  const { page, problems, close } = await visit(browser(), url());
  const screen = useConsole(page);
  const { signUp, add, lists, settles, titleOf, field } = screen;
  await signUp(newAccount());
  await add('first');
  await add('second');
  await lists(['second', 'first']);
  await settles();
  await titleOf('first').click();
  await field('Title').fill(title);
  return { ...screen, page, problems, close };
}

it('opening another task saves what was typed in the one before', async () => {
  const { page, titleOf, field, lists, settles, problems, close } = await typeInFirst('first, changed');
  await titleOf('second').click();
  expect(await field('Title').inputValue()).toBe('second');
  await page.keyboard.press('Escape');
  await lists(['second', 'first, changed']);
  await settles();
  await page.reload();
  await lists(['second', 'first, changed']);
  expect(problems).toEqual([]);
  await close();
}, 120_000);

it('a title that cannot be saved keeps its editor when another task is opened', async () => {
  const { page, titleOf, field, says, lists, close } = await typeInFirst('');
  await titleOf('second').click();
  await says('A task needs a title.');
  expect(await field('Title').inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await lists(['second', 'first']);
  await close();
}, 120_000);

it('what was typed is still there after a look at another view', async () => {
  const { page, goTo, says, field, button, lists, close } = await typeInFirst('first, changed');
  await goTo('Account');
  await says('What you are called here');
  await goTo('Tasks');
  expect(await field('Title').inputValue()).toBe('first, changed');
  await button('Save').click();
  await lists(['second', 'first, changed']);
  await page.reload();
  await lists(['second', 'first, changed']);
  await close();
}, 120_000);
