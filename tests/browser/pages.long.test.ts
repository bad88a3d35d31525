import { eventually } from '@taskmesh/testing';
import { createRest, logIn, type Account } from '../http.ts';
import { usePlatform } from './console/use-platform.ts';

interface OpenApi {
  paths: Record<
    '/api/auth/signup',
    { post: { requestBody: { content: { 'application/json': { example: Account } } } } }
  >;
}

/** How long one step may take on a busy machine. */
const patience = { timeoutMs: 30_000 };

describe('the pages of the gateway in a real browser', () => {
  const { url, open } = usePlatform();
  const openAt = async (path: string) => (await open({}, url() + path)).page;
  const description = async <Shape>() => (await createRest(url())<Shape>('GET', '/openapi.json')).body;

  it('the API reference shows every endpoint', async () => {
    const page = await openAt('/api/docs');
    const { paths } = await description<{ paths: Record<string, object> }>();
    const endpoints = Object.values(paths).flatMap((methods) => Object.keys(methods));
    expect(endpoints.length).toBeGreaterThan(20);
    await eventually(async () => expect(await page.locator('.opblock').count()).toBe(endpoints.length), patience);
  });

  it('the API reference can try an endpoint with its example', async () => {
    const block = (await openAt('/api/docs')).locator('[id$="-signUp"]');
    await block.locator('.opblock-summary-control').click();
    await block.locator('.execute').click();
    const status = block.locator('.live-responses-table .response .response-col_status');
    await eventually(async () => expect((await status.innerText()).trim()).toBe('201'), patience);
    const { paths } = await description<OpenApi>();
    await logIn(url(), paths['/api/auth/signup'].post.requestBody.content['application/json'].example);
  });

  it('the explorer shows its editors, and stores nothing beyond the tab', async () => {
    const page = await openAt('/graphql');
    await page.evaluate(`localStorage.setItem('graphiql:query', 'from an earlier release')`);
    await page.reload();
    const editors = page.locator('.graphiql-container .graphiql-editor');
    await eventually(async () => expect(await editors.count()).toBeGreaterThan(1), patience);
    await eventually(async () => expect(await page.evaluate('Object.keys(sessionStorage)')).not.toEqual([]), patience);
    expect(await page.evaluate('Object.keys(localStorage)')).toEqual([]);
  });

  it('an unknown address shows a page that leads to the console', async () => {
    const page = await openAt('/taks?x#/y');
    expect(await page.locator('h1').innerText()).toBe('There is nothing at this address');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).maxWidth`)).not.toBe('none');
    await page.locator('a').first().click();
    await page.waitForURL(`${url()}/**`);
    await eventually(async () => expect(await page.title()).toBe('Sign in – Taskmesh'), patience);
    expect(new URL(page.url()).pathname).toBe('/');
  });
});
