import { eventually } from '@taskmesh/testing';
import { barriersIn } from './axe.ts';
import { closeSilently, isOn } from './screen.ts';
import { usePlatform } from './use-platform.ts';

const { open } = usePlatform();

/** Creates two tasks, and types a title into the editor of the older one without saving it. */
async function typeInFirst(title: string) {
  const screen = await open();
  const { titleOf, beginWith, field } = screen;
  const account = await beginWith('first', 'second');
  await titleOf('first').click();
  await field('Title').fill(title);
  return { ...screen, account };
}

it('opening another task saves the previous one', async () => {
  const { page, titleOf, field, lists, settles } = await typeInFirst('first, changed');
  await titleOf('second').click();
  expect(await field('Title').inputValue()).toBe('second');
  await page.keyboard.press('Escape');
  await lists(['second', 'first, changed']);
  await settles();
  await page.reload();
  await lists(['second', 'first, changed']);
});

it('an invalid title keeps its editor open when the user opens another task', async () => {
  const { page, titleOf, field, says, lists } = await typeInFirst('');
  await titleOf('second').click();
  await says('A task needs a title.');
  expect(await field('Title').inputValue()).toBe('');
  await page.keyboard.press('Escape');
  await lists(['second', 'first']);
});

it('an incomplete due date is never saved: no change of it, and no task without it', async () => {
  const { page, titleOf, field, button, lists, settles } = await typeInFirst('first');
  const due = page.getByLabel('Due', { exact: true });
  await due.fill('2030-12-24');
  await due.press('Enter');
  await page.locator('.meta .due').waitFor();
  await settles();
  await titleOf('first').click();
  await due.press('Backspace'); // empties only the first part
  await field('Title').press('Enter');
  await isOn(page, 'Due');
  await field('Notes').press('Control+Enter');
  await isOn(page, 'Due');
  await titleOf('second').click();
  await isOn(page, 'Due');
  await due.press('Escape');
  await titleOf('first').click();
  expect(await due.inputValue()).toBe('2030-12-24');
  await due.press('Escape');

  await field('New task').fill('third');
  await button('Due date, priority, category').click();
  await due.press('1');
  await button('Due date, priority, category').click();
  await isOn(page, 'Due');
  await field('New task').press('Enter');
  await isOn(page, 'Due');
  await lists(['second', 'first']);
});

it('notes are not cut: longer ones than the API accepts keep their editor open', async () => {
  const { page, titleOf, field, says, settles } = await typeInFirst('first');
  await field('Notes').fill('😀'.repeat(2_001));
  await titleOf('second').click();
  await says('Notes have at most 2,000 characters.');
  await isOn(page, 'Notes');
  await field('Notes').press('Backspace');
  await field('Notes').press('Control+Enter');
  await settles();
  await titleOf('first').click();
  expect(await field('Notes').inputValue()).toBe('😀'.repeat(2_000));
});

it('Escape that ends a composition in an input method does not end the editing', async () => {
  const { field, button, page } = await typeInFirst('first, changed');
  const escape = { key: 'Escape', isComposing: true };
  await field('Title').dispatchEvent('keydown', escape);
  expect(await field('Title').inputValue()).toBe('first, changed');
  await button('Due date, priority, category').click();
  await field('New task').dispatchEvent('keydown', escape);
  await page.getByRole('form', { name: 'Add a task' }).getByLabel('Due', { exact: true }).waitFor();
});

it('an editor and a half-typed new task are kept while the user is in another view', async () => {
  const { page, goTo, says, field, button, lists } = await typeInFirst('first, changed');
  await field('New task').fill('half a ti');
  await button('Due date, priority, category').click();
  await page.getByRole('form', { name: 'Add a task' }).getByRole('combobox', { name: 'Priority' }).selectOption('High');
  await goTo('Account');
  await says('Display name');
  await goTo('Tasks');
  expect(await field('Title').inputValue()).toBe('first, changed');
  expect(await field('New task').inputValue()).toBe('half a ti');
  await field('New task').press('End');
  await page.keyboard.type('tle');
  await page.keyboard.press('Enter');
  await says('half a title');
  await page.locator('.meta').getByText('High').waitFor();
  await button('Save').click();
  await lists(['half a title', 'second', 'first, changed']);
  await page.reload();
  await lists(['half a title', 'second', 'first, changed']);
});

it('signing out asks about all unsaved text, in every view', async () => {
  const { account, page, signIn, goTo, says, field, button, lists } = await typeInFirst('first, changed');
  await field('New task').fill('half a ti');
  await button('Sign out').click();
  await says('What you typed in “first” is not saved.');
  await says('The new task “half a ti” is not added.');
  expect(await barriersIn(page)).toEqual([]);
  await page.keyboard.press('Escape');
  expect(await field('Title').inputValue()).toBe('first, changed');
  await goTo('Account');
  await button('Sign out').click();
  await says('What you typed in “first” is not saved.');
  await button('Cancel').click();
  await goTo('Tasks');
  await button('Save').click();
  await lists(['second', 'first, changed']);
  await button('Sign out').click();
  await says('The new task “half a ti” is not added.');
  expect(await page.getByText('is not saved.').count()).toBe(0);
  await button('Drop and sign out').click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await signIn(account);
  await lists(['second', 'first, changed']);
  expect(await field('New task').inputValue()).toBe('');
});

it('each refused change is reported until its report is dismissed, also a deletion from before a reload', async () => {
  const { page, beginWith, add, tick, button, lists, says } = await open();
  await beginWith('kept', 'done', 'deleted');
  let answers = false;
  await page.route('**/graphql', (route) => {
    if (!/mutation (Create|Delete)/.test(route.request().postData() ?? '')) return route.continue();
    const errors = [{ message: 'Not today.', extensions: { code: 'CONFLICT' } }];
    return answers ? route.fulfill({ json: { data: null, errors } }) : route.abort();
  });
  await button('Delete deleted').click();
  await add('brief 1');
  await button('Delete brief 1').click();
  await lists(['done', 'kept']);
  await page.reload();
  await lists(['done', 'kept']);
  await add('brief 2');
  await button('Delete brief 2').click();
  for (const count of [1, 2]) await add(`task ${count}`);
  answers = true;
  await says('A task was not deleted: Not today.');
  await says('2 more to read');
  await tick('done');
  await says('Done: “done”.');
  await button('Dismiss').first().click();
  await says('1 more to read');
  await button('Dismiss').first().click();
  for (const title of ['brief 2', 'task 1', 'task 2']) await says(`“${title}” was not added: Not today.`);
  await lists(['deleted', 'kept']);
});

it('the browser asks before it leaves a page with a new token, until that is copied', async () => {
  const { page, signUp, goTo, submit, button, says } = await open();
  await signUp();
  await goTo('Tokens');
  await submit('Make the token', { Name: 'My script' });
  await says('Your token');
  const asked = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  await (await asked).dismiss();
  await button('I have copied it').click();
  await closeSilently(page);
});

it.each(['an editor', 'the line for a new task'])(
  'the browser asks before the tab closes, or shows the operators’ page, with something typed in %s, and not when it is saved',
  async (where) => {
    const { page, field, lists, settles } = await typeInFirst('first, changed');
    if (where !== 'an editor') {
      await field('Title').press('Escape');
      await field('New task').fill('half a ti');
    }
    const asked: string[] = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      void dialog.dismiss();
    });
    await page.close({ runBeforeUnload: true });
    await eventually(() => expect(asked).toEqual(['beforeunload']));
    expect(page.isClosed()).toBe(false);
    await page.evaluate("location.hash = '#/operations'"); // another application
    await eventually(() => expect(asked).toHaveLength(2));
    await field(where === 'an editor' ? 'Title' : 'New task').press('Enter');
    // The tab may close silently only once the server has the change.
    await lists(where === 'an editor' ? ['second', 'first, changed'] : ['half a ti', 'second', 'first']);
    await settles();
    await closeSilently(page);
    expect(asked).toHaveLength(2);
  },
);
