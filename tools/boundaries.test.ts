import { makeTempDir } from '@taskmesh/testing';
import { spawnSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { rulesBroken } from './tests/rules-broken.ts';

const root = join(import.meta.dirname, '..');

const MODULES = '@nx/enforce-module-boundaries';
const LAYERS = 'import-x/no-restricted-paths';
const NAMES = '@typescript-eslint/no-restricted-imports';
const SHAPE = 'no-restricted-syntax';
const TASKS = 'services/tasks/src/tasks';
const HOUSEKEEPING = 'services/auth/src/housekeeping.ts';
const GATEWAY = 'services/gateway/src';

/** A breach of each part of these rules in eslint.config.mjs: a file, and the module that it must not import. */
const IMPORTS: Record<string, [what: string, file: string, imported: string][]> = {
  [MODULES]: [
    ['a service that uses another one', `${TASKS}/task.service.ts`, '@taskmesh/auth'],
    ['a gateway that uses a service', `${GATEWAY}/parts.ts`, '@taskmesh/tasks'],
    ['a package that uses a lib', 'packages/federation/src/index.ts', '@taskmesh/service'],
    ['a lib that uses a service', 'libs/service/src/log.ts', '@taskmesh/tasks'],
    ['a service with its own broker client', 'services/tasks/src/relay/relay.ts', 'kafkajs'],
    ['a gateway that reads a store', `${GATEWAY}/parts.ts`, 'pg'],
    ['a client that knows more than the public schema', 'packages/client/src/session.ts', '@taskmesh/contracts'],
    ['a console that knows more than the client', 'services/gateway/console/src/app.tsx', '@taskmesh/contracts'],
  ],
  [LAYERS]: [
    ['a resolver that bypasses its service', `${TASKS}/tasks.resolvers.ts`, './task.repository.ts'],
    ['a repository that knows its transport', `${TASKS}/task.repository.ts`, '../graphql/types.generated.ts'],
    ['an entity that knows its repository', `${TASKS}/task.entity.ts`, './task.repository.ts'],
    ['entities that know their repository', 'services/tasks/src/feed/feed.entities.ts', './feed.repository.ts'],
    ['a feed that knows subscriptions', `${GATEWAY}/feed/feed.ts`, '../subscriptions/subscriptions.ts'],
    ['subscriptions that know transports', `${GATEWAY}/subscriptions/stream.ts`, '../transports/transport.ts'],
  ],
  [NAMES]: [
    ['a use case with its own statement', `${TASKS}/task.service.ts`, './task.statements.ts'],
    ['background work that reads entities itself', HOUSEKEEPING, './sessions/session.entity.ts'],
    ['background work with its own ORM', HOUSEKEEPING, '@mikro-orm/core'],
    ['a gateway that bypasses the graph for backups', `${GATEWAY}/rest/operators.ts`, '@taskmesh/internal-api'],
  ],
};

/** Other code that is rejected, and by which rule. */
const TEXTS: [what: string, file: string, text: string, rule: string][] = [
  ['a name that is undefined in scripts', 'scripts/run.mjs', 'export const value = unknownName;\n', 'no-undef'],
  [
    'a statement outside a file of statements',
    'services/tasks/src/feed/cursors.ts',
    "import type { Statement } from '@taskmesh/store';\n\nexport const NOW: Statement = { name: 'now', text: 'select now()' };\n",
    SHAPE,
  ],
  [
    'a service whose use cases are only inferred from its code',
    `${TASKS}/task.service.ts`,
    'export const createTaskService = () => ({});\nexport type TaskService = ReturnType<typeof createTaskService>;\n',
    SHAPE,
  ],
  [
    'a repository whose methods are declared twice',
    `${TASKS}/task.repository.ts`,
    'export interface TaskRepository {\n  find(): Promise<void>;\n}\n',
    SHAPE,
  ],
];

const cases = [
  ...Object.entries(IMPORTS).flatMap(([rule, rows]) =>
    rows.map(([what, filePath, imported]) => {
      return { what, filePath, rule, text: `import * as it from '${imported}';\n\nexport const used = it;\n` };
    }),
  ),
  ...TEXTS.map(([what, filePath, text, rule]) => ({ what, filePath, text, rule })),
];
let broken: string[][];

beforeAll(async () => {
  broken = await rulesBroken(cases, { types: false });
}, 180_000);

it.each(cases.map(({ what, rule }, index) => ({ what, rule, index })))('lint refuses $what', ({ rule, index }) => {
  expect(broken[index]).toEqual([rule]);
});

it('the check of cycles refuses files that import only types of each other, and folders of the gateway', () => {
  const dir = makeTempDir();
  const files = {
    'libs/a.ts': `import type { B } from './b.ts';\n\nexport type A = B;\n`,
    'libs/b.ts': `import type { A } from './a.ts';\n\nexport type B = A;\n`,
    [`${GATEWAY}/http/one.ts`]: `export { two } from '../pages/two.ts';\n`,
    [`${GATEWAY}/pages/two.ts`]: `export const two = 2;\n`,
    [`${GATEWAY}/pages/three.ts`]: `export { four } from '../http/four.ts';\n`,
    [`${GATEWAY}/http/four.ts`]: `export const four = 4;\n`,
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, file), text);
  }
  const cruiser = join(root, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs');
  const config = ['--config', join(root, 'dependency-cruiser.config.mjs'), '--output-type', 'err'];
  const args = [cruiser, ...config, 'libs', 'services'];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8' });
  expect(status).toBeGreaterThan(0);
  for (const rule of ['no-file-cycles: libs/a.ts', 'no-folder-cycles: services/gateway/src/http'])
    expect(stdout).toContain(rule);
});

it('every project has a type and a scope, which its boundaries depend on', () => {
  for (const file of globSync('{{packages,libs,services,deploy}/*,tests,bench}/package.json', { cwd: root })) {
    const { tags }: { tags: string[] } = JSON.parse(readFileSync(join(root, file), 'utf8')).nx;
    expect([file, ...tags.map((tag) => tag.split(':')[0]).toSorted()]).toEqual([file, 'scope', 'type']);
  }
});

it('the inner files of a feature have names in the singular, unlike the feature', () => {
  const inner = 'services/*/src/**/*.{entity,entities,errors,repository,service,statements}.ts';
  const files = globSync(inner, { cwd: root });
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => /[^s]s$/.test(basename(file).split('.')[0] ?? ''))).toEqual([]);
});
