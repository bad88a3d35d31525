import { makeTempDir } from '@taskmesh/testing';
import { bundle, minify } from '@swc/core';
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const MAX_BYTES = 12.3 * 1024;
const BUILD = join(import.meta.dirname, '../../../tools/build-package.ts');
const NODE_MODULES = join(import.meta.dirname, '../../../node_modules');

const project = makeTempDir();
const installed = join(project, 'node_modules/@taskmesh/client');
const built = execFileSync(process.execPath, [BUILD, 'client', installed], { encoding: 'utf8' });
mkdirSync(join(project, 'node_modules/@types'));
for (const name of ['react', '@types/react', '@types/prop-types', 'csstype'])
  symlinkSync(join(NODE_MODULES, name), join(project, 'node_modules', name));
writeFileSync(join(project, 'package.json'), '{ "type": "module" }');

/** Bundles into one file with minified names, like production builds. `bundle` alone keeps top-level names. */
async function bundled(entry: string): Promise<string> {
  const { main } = (await bundle({
    entry: { main: join(installed, entry) },
    output: { path: project, name: 'main' },
    module: {},
    mode: 'production',
    target: 'browser',
    externalModules: ['react'],
    options: { jsc: { target: 'es2022' } },
  })) as unknown as Record<'main', { code: string }>; // its types omit this
  return (await minify(main.code, { module: true, compress: true, mangle: true })).code;
}

it('is smaller than 12.3 KiB compressed and loads nothing else', async () => {
  const code = await bundled('index.js');
  const sizes = { gzip: gzipSync(code).length, brotli: brotliCompressSync(code).length };
  console.log(`@taskmesh/client: ${code.length} bytes, ${sizes.gzip} by gzip, ${sizes.brotli} by brotli`);
  expect(code).toContain('graphql-transport-ws');
  expect(code).not.toMatch(/\bimport\b|\brequire\(/);
  expect(sizes.gzip).toBeLessThan(MAX_BYTES);
});

it('is published without dependencies', () => {
  const described = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  for (const name of ['dependencies', 'private']) expect(described).not.toHaveProperty(name);
  expect(described).toMatchObject({
    license: 'Apache-2.0',
    engines: { node: '>=20' },
    repository: { type: 'git', directory: 'packages/client' },
    homepage: expect.stringMatching(/^https:/),
    keywords: expect.arrayContaining(['taskmesh']),
  });
  expect(Object.keys(described.exports)).toEqual(['.', './react']);
});

it('runs in plain Node without WebSocket, Web Locks and other newer APIs, as in Node 20', () => {
  const script = `
    for (const name of ['WebSocket', 'navigator', 'BroadcastChannel']) delete globalThis[name];
    delete Promise.withResolvers;
    delete Promise.try;
    crypto.randomUUID = undefined;
    const { createClient } = await import('@taskmesh/client');
    const user = { id: '1', email: 'ada@example.com', name: 'Ada' };
    const session = { user, accessToken: 'a', refreshToken: 'r', expiresIn: 3600 };
    const tasks = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, totalCount: 0, changesCursor: 'c' };
    const created = { id: '7', title: 'new', createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z', version: 1 };
    const fetch = async (_url, { headers, body }) =>
      headers.accept ? new Response(new ReadableStream({}))
      : Response.json({ data: { login: session, tasks, createTask: created } });
    const client = createClient({ url: 'http://127.0.0.1:9', fetch });
    await client.signIn({ email: user.email, password: 'a long and private phrase' });
    const list = client.liveTasks();
    await new Promise((resolve) => list.subscribe(() => list.get().status === 'live' && resolve()));
    const { id } = await client.createTask({ title: 'new' });
    console.log(list.get().status, id);
    process.exit();`;
  const text = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { cwd: project });
  expect(String(text)).toBe('live 7\n');
});

it('includes types that compile with only the DOM library', () => {
  const file = join(project, 'uses.ts');
  writeFileSync(
    file,
    `import { createClient, READ_TASK, type LiveTask } from '@taskmesh/client';
     import { useLiveTasks } from '@taskmesh/client/react';
     const client = createClient({ url: location.origin, storage: localStorage });
     export const titles: string[] = client.liveTasks({ first: 3 }).get().tasks.map((task: LiveTask) => task.title);
     export const read = async (): Promise<string | undefined> => (await client.request(READ_TASK, { id: '1' })).task?.title;
     // @ts-expect-error no such variable
     export const wrong = client.request(READ_TASK, { number: 1 });
     // @ts-expect-error no such field
     export const component = () => useLiveTasks(client).tasks[0].colour;`,
  );
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    types: [],
    lib: ['lib.es2024.d.ts', 'lib.dom.d.ts'],
    module: ts.ModuleKind.ESNext,
    target: ts.ScriptTarget.ES2022,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  });
  const found = ts.getPreEmitDiagnostics(program).map(({ messageText, file: at }) => {
    const where = at ? at.fileName.slice(dirname(file).length) : '';
    return `${where}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
  expect(found).toEqual([]);
});

it('stays a copy at later installs if it is installed as its build says', () => {
  const cwd = makeTempDir();
  const [, command = ''] = /In your project: (.*)/.exec(built) ?? [];
  const PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  const env = { ...process.env, PATH, npm_config_offline: 'true', npm_config_audit: 'false' };
  execFileSync('sh', ['-c', `npm init -y && ${command} && npm install`], { cwd, env, stdio: 'pipe' });
  expect(lstatSync(join(cwd, 'node_modules/@taskmesh/client')).isSymbolicLink()).toBe(false);
});
