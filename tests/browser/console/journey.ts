import { eventually } from '@taskmesh/testing';
import type { Browser } from 'playwright-core';
import { readFile } from 'node:fs/promises';
import { createRest, logIn } from '../../http.ts';
import { visit } from './browser.ts';
import { useConsole } from './screen.ts';

/** Uses the console as a new user does, from sign-up to sign-out, while a program changes the same tasks. */
export async function takeJourney(browser: Browser, url: string): Promise<void> {
  const rest = createRest(url);
  const { page, problems, origins, close } = await visit(browser, url);
  const { button, field, titleOf, rename, signUp, signIn, add, tick, goTo, isAt, says, lists, submit } =
    useConsole(page);

  const account = await signUp();
  await says('Nothing to do yet');
  await add('Water the plants');
  await add('Buy bread');
  await lists(['Buy bread', 'Water the plants']);
  await add('no');
  await says('A title has at least 3 characters.');
  await field('New task').fill('');

  // A program changes the tasks at the same time.
  const { token, create } = await logIn(url, account);
  await create('Read a book', { due_date: '2020-01-01T00:00:00Z' });
  await lists(['Read a book', 'Buy bread', 'Water the plants']);
  await says(/Overdue/);
  await says('3 open, 0 done');

  // Inline editing: Enter saves, Escape cancels.
  await rename('Buy bread', 'Buy two loaves of bread');
  await lists(['Read a book', 'Buy two loaves of bread', 'Water the plants']);
  await titleOf('Read a book').click();
  await field('Title').fill('Read nothing');
  await field('Title').press('Escape');
  await lists(['Read a book', 'Buy two loaves of bread', 'Water the plants']);

  // Completes and deletes tasks, and undoes both.
  await tick('Read a book');
  await says('2 open, 1 done');
  await lists(['Buy two loaves of bread', 'Water the plants']);
  await button('Undo').click();
  await lists(['Read a book', 'Buy two loaves of bread', 'Water the plants']);
  await tick('Water the plants');
  await button('Delete Read a book').click();
  await lists(['Buy two loaves of bread']);
  await button('Undo').last().click();
  await lists(['Read a book', 'Buy two loaves of bread']);
  await page.getByRole('radio', { name: 'Done' }).check();
  await lists(['Water the plants']);
  await page.reload();
  await lists(['Water the plants']);

  await goTo('Account');
  await submit('Save the name', { 'Display name': 'Ada Lovelace' });
  await eventually(async () => expect(await page.getByRole('banner').textContent()).toContain('Ada Lovelace'));
  const download = page.waitForEvent('download');
  await button('Download your data').click();
  const exported = JSON.parse(await readFile(await (await download).path(), 'utf8')) as { tasks: { title: string }[] };
  expect(exported.tasks.map(({ title }) => title)).toContain('Buy two loaves of bread');

  await goTo('Tokens');
  await submit('Make the token', { Name: 'My script' });
  const personal = await field('The token').inputValue();
  expect((await rest('GET', '/tasks', { token: personal })).body).toMatchObject({ count: 3 });
  await button('End the token My script').click();
  await button('End it').click();
  await says('You have none.');
  await eventually(async () => expect((await rest('GET', '/tasks', { token: personal })).status).toBe(401));

  await goTo('Sessions');
  await button('End all other sessions').click();
  await says('One session has ended.');
  await eventually(async () => expect((await rest('GET', '/tasks', { token })).status).toBe(401));

  await goTo('Activity');
  for (const sentence of ['You created the account', 'You changed your name', 'A token was ended'])
    await says(sentence);

  await button('Sign out').click();
  await isAt('Sign in');
  await page.reload();
  await signIn(account);
  await lists(['Read a book', 'Buy two loaves of bread']);

  expect(problems).toEqual([]);
  expect([...origins]).toEqual([new URL(url).origin]);
  await close();
}
