import { eventually } from '@taskmesh/testing';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRest, logIn } from '../http.ts';
import { takeJourney } from './console/journey.ts';
import { signInAsOperator, useOperatedPlatform } from './operations/operator.ts';

const { url, token, address, browser, open, openAsOperator } = useOperatedPlatform();
const list = async () =>
  (await createRest(url())<{ data: Record<'file' | 'sha256', string>[] }>('GET', '/backups')).body.data;

it('a new user finds their way through the console, from the account to the sign-out', () =>
  takeJourney(browser(), url()));

it('an operator makes, verifies and restores a backup, and undoes the restore, while a user’s open list keeps up', async () => {
  const { signUp, add, lists } = await open();
  const work = await logIn(url(), await signUp());
  /** Waits for the server, because the list shows tasks before the server has them. */
  const areSaved = (count: number) => eventually(async () => expect(await work.titles()).toHaveLength(count));
  await add('before the backup');
  await lists(['before the backup']);
  await areSaved(1);

  const { page, origins, button, row, goTo, says, ends, typeName } = await openAsOperator();
  /** Error statuses, which browsers would show in red in their developer tools. */
  const refused: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  await says('All is well');
  await says('None'); // in one process there is no Redis
  await goTo('Backups');
  await says('There are none yet.');
  await button('Make a backup').click();
  await ends('Making a backup', 'done');
  const [{ file } = { file: '' }] = await list();
  await page.getByRole('region', { name: 'Making a backup' }).getByText(`The archive is ${file}.`).waitFor();
  await row(file).getByText('Not verified').waitFor();
  await button(`Verify ${file}`).click();
  await ends(`Verifying ${file}`, 'done');
  for (const text of [/^Verified$/, /verified just now$/]) await row(file).getByText(text).waitFor();

  await add('after the backup');
  await lists(['after the backup', 'before the backup']);
  await areSaved(2);
  await button(`Restore ${file}`).click();
  await typeName(`${file}.`);
  await says('That is not its name.');
  await lists(['after the backup', 'before the backup']);
  await typeName(file);
  await ends(`Restoring ${file}`, 'done');
  await lists(['before the backup']);
  await add('after the restore');
  await lists(['after the restore', 'before the backup']);

  await says('Database restored.');
  await says('You can undo it until');
  await button('Undo the restore…').click();
  await button('Undo it').click();
  await ends('Undoing the restore', 'done');
  await page.getByText(`The last undo was just now, for the archive ${file}. You can undo it until`).waitFor();
  // The server's message contains two ISO times.
  const message = page.getByRole('region', { name: 'Undoing the restore' }).getByText('Undone:');
  expect(await message.textContent()).not.toMatch(/\d{4}-\d\d-\d\dT/);
  for (const time of await message.locator('time').all()) {
    expect(await time.getAttribute('datetime')).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(await time.getAttribute('title')).toContain(String(new Date().getFullYear()));
  }
  expect(await message.locator('time').count()).toBe(2);
  await lists(['after the backup', 'before the backup']);
  await add('after the way back');
  await lists(['after the way back', 'after the backup', 'before the backup']);

  expect(refused).toEqual([]);
  expect([...origins]).toEqual([new URL(url()).origin]);
});

it('an archive is downloaded and uploaded by the browser, and deleted only after a confirmation', async () => {
  const { page, button, row, goTo, ends } = await openAsOperator();
  await goTo('Backups');
  await button('Make a backup').click();
  await ends('Making a backup', 'done');
  const [{ file, sha256 } = { file: '', sha256: '' }] = await list();
  const download = page.waitForEvent('download');
  await button(`Download ${file}`).click();
  const bytes = await readFile(await (await download).path());
  expect((await download).suggestedFilename()).toBe(file);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);

  const choose = (name: string, buffer: Buffer) =>
    page.locator('input[type=file]').setInputFiles({ name, mimeType: 'application/gzip', buffer });
  await choose('from-elsewhere.tar.gz', bytes);
  await ends('Uploading from-elsewhere.tar.gz', 'done');
  await row('from-elsewhere.tar.gz').getByText('uploaded').waitFor();
  await choose('no-archive.zip', Buffer.from('nonsense'));
  await ends('Uploading no-archive.zip', 'failed');
  await choose('from-elsewhere.tar.gz', Buffer.from('another one'));
  await ends('Uploading from-elsewhere.tar.gz', 'failed');

  await button('Delete from-elsewhere.tar.gz').click();
  await button('Cancel').click();
  expect((await list()).map((backup) => backup.file)).toContain('from-elsewhere.tar.gz');
  await button('Delete from-elsewhere.tar.gz').click();
  await button('Delete it').click();
  await row('from-elsewhere.tar.gz').waitFor({ state: 'detached' });
  expect((await list()).map((backup) => backup.file)).not.toContain('from-elsewhere.tar.gz');
});

describe('the operators’ token', () => {
  /** Everything that outlives the page. */
  const traces = `JSON.stringify([location.href, document.cookie, { ...localStorage }, { ...sessionStorage }, history.state])`;

  it('is exchanged for the code in the address, which is removed at once; the token is stored nowhere and ends with the page', async () => {
    const opened = address();
    expect(opened).not.toContain(token());
    const { page } = await open({}, opened);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).toBe(`${url()}/#/operations`);
    const code = new URLSearchParams(opened.split('?')[1]).get('code') ?? '';
    for (const secret of [token(), code]) expect(await page.evaluate<string>(traces)).not.toContain(secret);
    await page.goBack().catch(() => null);
    expect(page.url()).not.toContain(code);
    await page.goto(`${url()}/#/operations`);
    await page.reload();
    await page.getByRole('heading', { name: 'Operations' }).waitFor();
    await page.goto(`${url()}/#/account?token=of-an-email`);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(page.url()).toContain('?token=of-an-email');
  });

  it('is exchanged only once: an address in the history does not sign in again, nor does a wrong token, but the token does', async () => {
    const opened = address();
    await (await open({}, opened)).page.getByRole('heading', { name: 'Overview' }).waitFor();
    const { page } = await open({}, opened);
    await page.getByText('The address was opened before, or is too old: use the token.').waitFor();
    expect(page.url()).toBe(`${url()}/#/operations`);
    for (const [typed, answer] of [
      [`${token()}x`, 'The token of operators is missing or wrong.'],
      ['not a tokén', 'A token has letters, digits and signs, and no spaces.'],
    ] as const) {
      await page.getByRole('textbox', { name: 'Operators’ token' }).fill(typed);
      await page.keyboard.press('Enter');
      await page.getByText(answer).waitFor();
    }
    await signInAsOperator(page, token());
    // A fresh address works in a tab that already shows the page.
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.goto(address());
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});
