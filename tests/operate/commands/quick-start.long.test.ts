import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { useProduct } from '../../product.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DEFAULT_URL = 'http://127.0.0.1:4000';

const product = useProduct('start');

/** Returns the shell commands of a page, with the addresses of this test's product. `isMeant` selects blocks. */
function commandsIn(page: string, isMeant: (block: string) => boolean = () => true): string {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([^]*?)```/g)].map(([, block = '']) => block).filter(isMeant);
  return blocks.join('\n').replaceAll(DEFAULT_URL, product().url).replaceAll('.data/', `${product().dataDir}/`);
}

async function typeIn(commands: string): Promise<string> {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  const { stdout, stderr } = await promisify(execFile)('sh', ['-c', commands], { cwd: ROOT, env: { PATH } });
  expect(stderr).toBe('');
  return stdout;
}

it('the quick start works repeatedly, even in one shell', async () => {
  const commands = commandsIn('README.md', (block) => block.includes('curl'));
  const output = await typeIn(`${commands}\n${commands}`);
  const created = [...output.matchAll(/"success":true,"message":"[^"]*","data":\{[^}]*"title":"Water the plants"/g)];
  expect(created).toHaveLength(2);
  expect(output).toContain('already registered');
  expect(output).not.toMatch(/undefined|UNAUTHENTICATED/);
}, 60_000);

it('the examples get a token repeatedly', async () => {
  const examples = commandsIn('docs/examples/README.md', (block) => block.includes('TASKMESH_TOKEN'));
  const me = `curl -sS ${product().url}/api/auth/me -H "Authorization: Bearer $TASKMESH_TOKEN"; echo`;
  const commands = examples.replace(/^node .*$/m, me);
  const output = await typeIn(`${commands}\n${commands}`);
  expect(output.match(/"userId":/g)).toHaveLength(2);
  expect(output).not.toMatch(/undefined|UNAUTHENTICATED/);
}, 60_000);

it.each([
  { page: 'docs/accounts.md', refused: ['FORBIDDEN'], answers: 10 },
  { page: 'docs/tasks.md', refused: ['PRECONDITION_FAILED', 'BAD_USER_INPUT', 'BAD_USER_INPUT'], answers: 19 },
])('the examples of $page get the documented responses', async ({ page, refused, answers }) => {
  const lines = (await typeIn(commandsIn(page))).trim().split(/\n+/);
  expect(lines.every((line) => line.startsWith('{"'))).toBe(true);
  expect(lines).toHaveLength(answers);
  expect(lines.flatMap((line) => /"code":"(\w+)"/.exec(line)?.slice(1) ?? [])).toEqual(refused);
});
