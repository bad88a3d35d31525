import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { temporaryDir } from './testing.ts';

const EXAMPLE = /```js\n([^]*?)```/.exec(readFileSync(new URL('../README.md', import.meta.url), 'utf8'))?.[1] ?? '';
const dir = temporaryDir('readme');

it('the example in the README starts, uses and stops servers', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', EXAMPLE], {
    cwd: new URL('.', import.meta.url),
    env: { ...process.env, SERVERS_DIR: dir },
  });
  expect(stdout).toBe('42 redis:\n');
}, 120_000);
