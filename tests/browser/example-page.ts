import { eventually } from '@taskmesh/testing';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Page } from './chromium.ts';

const SERVE = fileURLToPath(new URL('../../docs/examples/serve.mjs', import.meta.url));

/** The example's own little server, as its README starts it. */
export async function serveExamples(): Promise<{ origin: string; stop(): Promise<void> }> {
  const child = spawn(process.execPath, [SERVE], {
    env: { ...process.env, PORT: '0', NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(String(chunk))?.[0];
      if (url) resolve(url);
    });
    void exited.then(() => reject(new Error('The example’s server ended.')));
  });
  return {
    origin,
    async stop() {
      child.kill();
      await exited;
    },
  };
}

/** The example's page as somebody who looks at it sees and uses it. */
export function useExample(page: Page) {
  const texts = (selector: string) =>
    page.evaluate<string[]>(`[...document.querySelectorAll('${selector}')].map(({ textContent }) => textContent)`);
  const shown = async () => ({
    state: await page.evaluate<string>(`document.querySelector('#state').value`),
    error: await page.evaluate<string>(`document.querySelector('#error').value`),
    tasks: await texts('#tasks li'),
    changes: await texts('#changes li'),
  });
  const type = (selector: string, text: string) =>
    page.evaluate(`document.querySelector('${selector}').value = ${JSON.stringify(text)}`);
  const click = (selector: string) => page.evaluate(`document.querySelector('${selector}').click()`);
  return {
    type,
    click,
    /** Waits until the page shows this. */
    shows: (expected: Partial<Awaited<ReturnType<typeof shown>>>, timeoutMs = 15_000) =>
      eventually(async () => expect(await shown()).toMatchObject(expected), { timeoutMs }),
  };
}
