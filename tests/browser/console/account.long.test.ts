import { eventually } from '@taskmesh/testing';
import { createRest, newAccount, register } from '../../http.ts';
import { barriersIn } from './axe.ts';
import { setTimeLimits } from './screen.ts';
import { usePlatform } from './use-platform.ts';

const { url, open, linkTo } = usePlatform();

const NEW_PASSWORD = 'another horse battery staple';

const statusOf = async (email: string, password: string) =>
  (await createRest(url())('POST', '/auth/login', { body: { email, password } })).status;

it('changes a password and an address, and resets a password, with the links in e-mails', async () => {
  const { page, signUp, signIn, goTo, follow, isAt, field, button, says, submit } = await open();
  const account = await signUp();

  await goTo('Account');
  await submit('Change the password', { 'Current password': 'not this one', 'New password': NEW_PASSWORD });
  await says('The password is wrong.');
  await submit('Change the password', { 'Current password': account.password, 'New password': 'short' });
  await says('Password must have 8 to 128 characters.');
  await submit('Change the password', { 'New password': NEW_PASSWORD });
  await says('Your password is changed.');
  expect(await field('Current password').inputValue()).toBe('');
  expect(await statusOf(account.email, NEW_PASSWORD)).toBe(200);

  const { email } = newAccount();
  await submit('Send the link', { 'New address': 'no address', 'Your password': NEW_PASSWORD });
  await says('E-mail must be an e-mail address.');
  await submit('Send the link', { 'New address': email });
  await says(`An e-mail with a link is on its way to ${email}.`);
  await page.goto(await linkTo('confirm-email', email));
  await submit('Confirm', { 'Password of your account': 'not this one' });
  await says('The password is wrong.');
  expect(await barriersIn(page)).toEqual([]);
  await submit('Confirm', { 'Password of your account': NEW_PASSWORD });
  await page.getByRole('status').waitFor();
  expect(page.url()).not.toContain('token');
  await follow('Open Taskmesh');
  await isAt('Tasks');
  await goTo('Account');
  await says(`You sign in as ${email}.`);
  await button('Sign out').click();

  await follow('Forgot your password?');
  await submit('Send the link', { 'E-mail': email });
  await says('an e-mail with a link is on its way');
  await page.goto(await linkTo('reset-password', email));
  await submit('Set the password', { 'New password': account.password });
  await page.getByRole('status').waitFor();
  await follow('Sign in');
  await signIn({ email, password: account.password });
});

it.each([
  ['reset-password', 'Set the password'],
  ['confirm-email', 'Confirm'],
])(
  'the page /%s takes the token out of the address at once, and asks for the link again after a reload',
  async (name, deed) => {
    const { page, field, button, says } = await open({}, `${url()}/${name}#token=nonsense`);
    const asks = page.getByText('Open the link in the e-mail again');
    expect(page.url()).toBe(`${url()}/${name}`);
    expect(await asks.isVisible()).toBe(false);
    await page.getByRole('textbox', { name: /assword/ }).fill(NEW_PASSWORD);
    await button(new RegExp(`^${deed}$`)).click();
    await says('Token is not valid');
    await page.reload();
    await asks.waitFor();
    expect(await field('Token from the e-mail').inputValue()).toBe('');
    // Opens another link in the same tab.
    await page.goto(`${url()}/${name}#token=another`);
    await asks.waitFor({ state: 'hidden' });
    await page.waitForURL(`${url()}/${name}`);
  },
);

it('confirms a new address of a signed-in user without the password', async () => {
  const { page, signUp, signIn, goTo, field, button, says, submit } = await open();
  const [account, stranger] = [await signUp(), await register(url())];
  const ask = async () => {
    const { email } = newAccount();
    await goTo('Account');
    await submit('Send the link', { 'New address': email, 'Your password': account.password });
    await says(`An e-mail with a link is on its way to ${email}.`);
    return { email, link: await linkTo('confirm-email', email) };
  };
  const isChangedTo = async (email: string) => {
    await says('Your address is changed.');
    await says(`You sign in as ${email}.`);
    expect(page.url()).not.toContain('token');
    expect(await field('Token from the e-mail').count()).toBe(0);
  };

  const typed = await ask();
  await submit('Confirm the new address', { 'Token from the e-mail': 'nonsense' });
  await says('Token is not valid, was used before, or has expired.');
  expect(await barriersIn(page)).toEqual([]);
  await submit('Confirm the new address', { 'Token from the e-mail': typed.link.replace(/.*#token=/, '') });
  await isChangedTo(typed.email);

  const followed = await ask();
  const follow = async (link: string) => {
    await page.goto(link);
    await page.getByRole('link', { name: 'Confirm in your account' }).click();
  };
  await follow(followed.link);
  await button('Confirm the new address').waitFor();
  await page.waitForURL(`${url()}/#/account`);
  await button('Confirm the new address').click();
  await isChangedTo(followed.email);

  const elsewhere = await ask();
  await button('Sign out').click();
  await signIn(stranger);
  await follow(elsewhere.link);
  await button('Confirm the new address').click();
  await says('This token belongs to another account');
  await button('Sign out').click();
  await follow(elsewhere.link);
  await submit('Sign in', { 'E-mail': followed.email, Password: account.password });
  await button('Confirm the new address').click();
  await isChangedTo(elsewhere.email);
});

it('deletes an account at once and everywhere, after its password and address are typed', async () => {
  const { page, signUp, goTo, button, says, add, settles, submit } = await open();
  const account = await signUp();
  const remove = (password: string, email: string) =>
    submit('Delete the account', { 'Confirm with your password': password, 'Type your e-mail address': email });
  await add('Water the plants');
  await settles();
  const elsewhere = await open();
  await elsewhere.signIn(account);

  await goTo('Account');
  await remove('not this one', 'somebody@example.com');
  await says('That is not the address of this account.');
  await remove('not this one', account.email.toUpperCase());
  await says('The password is wrong.');
  expect(await statusOf(account.email, account.password)).toBe(200);

  // A pending change asks for confirmation first, and the typed fields are kept.
  await page.route('**/graphql', (route) =>
    route.request().postData()?.includes('createTask') ? route.abort() : route.continue(),
  );
  await goTo('Tasks');
  await add('Written in vain');
  await goTo('Account');
  await remove(account.password, account.email);
  await says('One change has not reached the server yet.');
  await button('Cancel').click();
  expect(await statusOf(account.email, account.password)).toBe(200);
  await button('Delete the account').click();
  await button('Drop and delete').click();
  await says('Your account is deleted');
  expect(await page.getByRole('alert').count()).toBe(0);
  await elsewhere.says('You were signed out');
  expect(await statusOf(account.email, account.password)).toBe(401);
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByText('Your account is deleted').count()).toBe(0);
  expect(await page.evaluate('JSON.stringify([sessionStorage, localStorage])')).not.toContain('Written in vain');
  const operations = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'For operators' }).click();
  await (await operations).getByRole('heading', { name: 'Operations' }).waitFor();
});

it('downloads the own data for as long as that takes, and explains a download that breaks off', async () => {
  const { page, signUp, goTo, button, says } = await open();
  await page.clock.install();
  await signUp();
  await goTo('Account');
  await setTimeLimits(page);
  await page.evaluate(`{
    const { blob } = Response.prototype;
    Response.prototype.blob = async function () {
      document.title = 'downloading';
      await new Promise((resolve) => (window.goOn = resolve));
      return blob.call(this);
    };
  }`);
  await button('Download your data').click();
  await eventually(async () => expect(await page.title()).toBe('downloading'));
  await page.clock.runFor(6 * 60_000);
  const download = page.waitForEvent('download');
  await page.evaluate('goOn()');
  await download;
  await page.evaluate(`Response.prototype.blob = () => Promise.reject(new TypeError('network error'))`);
  await button('Download your data').click();
  await says('The server cannot be reached.');
});

it('loads more of a long list on request', async () => {
  const account = await register(url());
  const names = Array.from({ length: 60 }, (_, index) => `task ${index + 1}`);
  for (const title of names) await account.create(title);
  const { page, signIn, lists, button, says, add } = await open();
  await signIn(account);
  await lists(names.slice(10).toReversed());
  await says('50 of 60 shown');
  await button('Show more').click();
  await lists(names.toReversed());
  await page.getByRole('combobox', { name: 'Order' }).selectOption('Oldest first');
  await lists(names.slice(0, 50));
  await add('the newest one');
  await says('50 of 61 shown');
});
