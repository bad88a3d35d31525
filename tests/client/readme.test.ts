import { nodeEnvironment } from '@taskmesh/testing';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProduct, type Product } from '../operate/commands/start-product.ts';

const README = join(import.meta.dirname, '../../packages/client/README.md');

let product: Product;
beforeAll(async () => {
  product = await startProduct('start');
});
afterAll(() => product.stop());

it('the example of the client’s README runs, and prints what happens', async () => {
  const [, example = ''] = /```js\n([^]*?)```/.exec(readFileSync(README, 'utf8')) ?? [];
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', example], {
    cwd: import.meta.dirname,
    env: { ...nodeEnvironment(), TASKMESH_URL: product.url },
  });
  const lines = stdout.split('\n').map((line) => line.trim());
  // Whether the list is live by then depends on the machine.
  const tasks = lines.map((line) => line.replace(/^\S+ /, ''));
  expect(tasks).toContain('1 Water the plants …');
  expect(tasks.indexOf('1 Water the plants')).toBeGreaterThan(tasks.indexOf('1 Water the plants …'));
  expect(lines.filter((line) => line !== '').at(-1)).toBe('signed-out 0');
});
