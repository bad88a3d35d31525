import { eventually, freePort } from '@taskmesh/testing';
import { startSignInProvider, type SignInProvider } from '@taskmesh/testing/sign-in-provider';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { randomUUID } from 'node:crypto';
import { newAccount, register } from '../../http.ts';
import { barriersIn } from './axe.ts';
import { usePlatform } from './use-platform.ts';

let provider: SignInProvider;
const { url, open, linkTo } = usePlatform(async () => {
  const port = await freePort(); // the provider needs the return address before the platform starts
  const publicUrl = `http://127.0.0.1:${port}`;
  provider = await startSignInProvider({ redirectUri: `${publicUrl}/api/auth/oidc/callback` });
  const { issuer, clientId, clientSecret } = provider;
  return {
    ...{ PORT: String(port), PUBLIC_URL: publicUrl, OIDC_NAME: 'Example' },
    ...{ OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret },
  };
});

function newPerson(email = newAccount().email): string {
  provider.accounts.set(randomUUID(), { email, email_verified: true, name: 'Ada' });
  return email;
}

async function openConsole(options: BrowserContextOptions = {}) {
  const seen = await open(options);
  return {
    ...seen,
    /** Goes to the provider, and signs in there. */
    async goAs(email: string) {
      await seen.button('Continue with Example').click();
      await seen.page.getByRole('link', { name: email, exact: true }).click();
    },
    /** Expects no accessibility barriers, no horizontal scrolling, and no trace of the sign-in in the address. */
    async isInOrder() {
      expect(await barriersIn(seen.page)).toEqual([]);
      expect(await seen.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(seen.page.url()).not.toContain('sign_in');
    },
  };
}

const keptIn = (page: Page, storage: 'sessionStorage' | 'localStorage') =>
  page.evaluate<string[]>(`Object.keys(${storage})`);

const LOOKS = [
  { colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const;

it('reports an unreachable provider on the page, keeps the form usable, and works when the provider is back', async () => {
  provider.respondWith((response) => response.writeHead(503).end()); // before its first request
  const { page, button, says, field, goAs, isAt, isInOrder } = await openConsole();
  const email = newPerson();
  await button('Continue with Example').click();
  await says('The provider cannot be reached at the moment.');
  expect(page.url()).toBe(`${url()}/`);
  expect(await field('E-mail').isEnabled()).toBe(true);
  await isInOrder();
  provider.respondWith(undefined);
  const start = `${url()}/api/auth/oidc/start?code_challenge=${'x'.repeat(43)}`;
  await eventually(async () => expect((await fetch(start, { redirect: 'manual' })).status).toBe(302));
  await goAs(email);
  await isAt('Tasks');
});

it('a new user signs in with the provider, and sees their ways to sign in', async () => {
  const { page, goAs, goTo, follow, isAt, isInOrder, says, button, submit } = await openConsole();
  const email = newPerson();
  await follow('Create an account');
  await button('Continue with Example').waitFor();
  await isInOrder();
  await goAs(email);
  await isAt('Tasks');
  await isInOrder();
  expect(await keptIn(page, 'localStorage')).toEqual([]);
  expect(await keptIn(page, 'sessionStorage')).toEqual(['taskmesh.session', 'taskmesh.tab']);
  await page.goBack();
  await page.goForward();
  await isAt('Tasks');

  await goTo('Account');
  await says(`As ${email}, linked just now`);
  await button(/^Remove 127/).click();
  await button('Remove it').click();
  await says('This is the only way in to the account');
  await isInOrder();
  const typed = { 'Confirm with your password': 'there is none', 'Type your e-mail address': email };
  await submit('Delete the account', typed);
  await says('The account has no password');
  await button('Send me the recovery e-mail').last().click();
  await says(`An e-mail is on its way to ${email}.`);
  expect(await linkTo('reset-password', email)).toContain('#token=');
  await goTo('Activity');
  await says('A sign-in provider was linked');
});

it.each(LOOKS)('an existing account with that address is linked after its password is typed: %j', async (look) => {
  const account = await register(url());
  newPerson(account.email);
  const { page, goAs, says, field, button, goTo, isAt, isInOrder } = await openConsole(look);
  await goAs(account.email);
  await isAt('Link your account');
  await says(`${account.email} already has an account`);
  expect(await page.evaluate('document.activeElement.name')).toBe('password');
  await isInOrder();
  await page.keyboard.type('not this one');
  await page.keyboard.press('Enter');
  await says('The password is wrong.');
  await field('Password').fill(account.password);
  await page.keyboard.press('Enter');
  await isAt('Tasks');
  await button('Sign out').click();
  await button('Continue with Example').click(); // the user is still signed in at the provider
  await isAt('Tasks');
  await goTo('Account');
  await button(/^Remove 127/).click();
  await says('It can no longer be used to sign in to this account.');
  await isInOrder();
  await button('Remove it').click();
  await says('So far, you only sign in with your password.');
});

it.each(LOOKS)('a signed-in user links the provider, and returns to the same view: %j', async (look) => {
  const account = await register(url());
  const [mine, others] = [newPerson(account.email), newPerson()];
  const { page, signIn, goTo, follow, isAt, isInOrder, says, submit, button } = await openConsole(look);
  await signIn(account, { stays: true });
  await goTo('Account');
  await button('Link Example').click();
  await follow('No one');
  await says('You did not sign in at the provider');
  await isInOrder();

  await button('Link Example').click();
  await follow(others);
  await says('You are back from Example.');
  await submit('Link it', { 'Your Taskmesh password': account.password });
  await says('The address at the sign-in provider is not that of the account');
  await page.context().clearCookies();
  await button('Cancel').click();

  await button('Link Example').click();
  await follow(mine);
  await says('You are back from Example.');
  await isAt('Account');
  await isInOrder();
  expect(await page.evaluate('document.activeElement.name')).toBe('password');
  await page.keyboard.type(account.password);
  await page.keyboard.press('Enter');
  await says(`As ${account.email}, linked just now`);
  await says('You can sign in with Example now.');
  expect(await keptIn(page, 'localStorage')).toEqual(['taskmesh.session']);
  expect(await keptIn(page, 'sessionStorage')).toEqual([]);
});

it('a response that this tab did not request does not sign in, and its text is not shown', async () => {
  const { page, says, isInOrder } = await openConsole();
  for (const answer of ['sign_in_code=stolen', 'sign_in_error=x&sign_in_error_description=Call+this+number']) {
    await page.goto('about:blank');
    await page.goto(`${url()}/#${answer}`);
    await says('This sign-in did not begin in this tab.');
    expect(await page.getByText('Call this number').count()).toBe(0);
    await isInOrder();
  }
});

it.each(LOOKS)(
  'a repeated response of the provider, or one to another browser, gets a page that explains it and leads back: %j',
  async (look) => {
    const [mine, other] = [await openConsole(look), await openConsole(look)];
    const answers: string[] = [];
    mine.page.on('request', (request) => {
      if (request.url().includes('/oidc/callback')) answers.push(request.url());
    });
    await mine.goAs(newPerson());
    await mine.isAt('Tasks');
    expect(answers).toHaveLength(1);
    for (const { page, follow, isAt, isInOrder, says } of [mine, other]) {
      expect((await page.goto(answers[0] ?? ''))?.status()).toBe(400);
      await isAt('The sign-in did not work');
      await says('was not started in this browser, or has expired');
      await isInOrder();
      await follow('Start again');
    }
    await mine.isAt('Tasks');
    await other.isAt('Sign in');
  },
);

it.each<[string, (token: string) => Promise<string>]>([
  ['answers nonsense', async () => 'no.such.token'],
  ['has another time', (token) => provider.sign(anHourAgo(token))],
])('a provider that %s after the redirect is reported where the sign-in began', async (_what, change) => {
  const { button, says, goAs, isAt, isInOrder } = await openConsole();
  provider.tamper(async (path, body) =>
    path === '/token' ? { ...body, id_token: await change(String(body.id_token)) } : body,
  );
  await goAs(newPerson());
  await says('The sign-in at the provider did not work. Please try again.');
  await isInOrder();
  provider.tamper(undefined);
  await button('Continue with Example').click(); // the user is still signed in at the provider
  await isAt('Tasks');
});

/** Returns the claims of a token, as if issued by a clock that is an hour behind. */
function anHourAgo(token: string): { iat: number; exp: number } {
  const text = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  const claims = JSON.parse(text) as { iat: number; exp: number };
  return { ...claims, iat: claims.iat - 3_600, exp: claims.exp - 3_600 };
}

it('the form is usable before the provider is known', async () => {
  const { page, button, field } = await openConsole();
  let answer = () => {};
  const isAsked = new Promise<void>((resolve) => {
    void page.route('**/graphql', async (route) => {
      resolve();
      await new Promise<void>((resume) => (answer = resume));
      await route.continue();
    });
  });
  await page.reload();
  await isAsked;
  await field('E-mail').fill('ada@example.com');
  expect(await button('Continue with Example').count()).toBe(0);
  answer();
  await button('Continue with Example').waitFor();
  await eventually(async () => expect(await field('E-mail').inputValue()).toBe('ada@example.com'));
});
