import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rulesBroken } from './lint/rules-broken.ts';

const root = join(import.meta.dirname, '..');

const MODULES = '@nx/enforce-module-boundaries';
const LAYERS = 'import-x/no-restricted-paths';
const NAMES = '@typescript-eslint/no-restricted-imports';
const TASKS = 'services/tasks/src/tasks';

describe('lint', () => {
  const imports = [
    {
      what: 'refuses a service that uses another one',
      in: `${TASKS}/task.service.ts`,
      of: '@taskmesh/auth',
      by: MODULES,
    },
    {
      what: 'refuses a gateway that uses a service',
      in: 'services/gateway/src/parts.ts',
      of: '@taskmesh/tasks',
      by: MODULES,
    },
    {
      what: 'refuses a package that uses a lib',
      in: 'packages/federation/src/index.ts',
      of: '@taskmesh/service',
      by: MODULES,
    },
    { what: 'refuses a lib that uses a service', in: 'libs/service/src/log.ts', of: '@taskmesh/tasks', by: MODULES },
    {
      what: 'refuses a service with a broker of its own',
      in: 'services/tasks/src/relay/relay.ts',
      of: 'kafkajs',
      by: MODULES,
    },
    { what: 'refuses a gateway that reads a store', in: 'services/gateway/src/parts.ts', of: 'pg', by: MODULES },
    {
      what: 'refuses a resolver that goes past its service',
      in: `${TASKS}/tasks.resolvers.ts`,
      of: './task.repository.ts',
      by: LAYERS,
    },
    {
      what: 'refuses a repository that knows its transport',
      in: `${TASKS}/task.repository.ts`,
      of: '../graphql/types.generated.ts',
      by: LAYERS,
    },
    {
      what: 'refuses a use case with a statement of its own',
      in: `${TASKS}/task.service.ts`,
      of: './task.statements.ts',
      by: NAMES,
    },
    {
      what: 'refuses a use case that reads entities itself',
      in: `${TASKS}/task.service.ts`,
      of: './task.entity.ts',
      by: NAMES,
    },
    {
      what: 'refuses background work with a statement of its own',
      in: 'services/tasks/src/relay/relay.ts',
      of: './relay.statements.ts',
      by: NAMES,
    },
    {
      what: 'refuses metrics with a statement of their own',
      in: 'services/auth/src/account-log/account-log.metrics.ts',
      of: './account-log.statements.ts',
      by: NAMES,
    },
    {
      what: 'refuses housekeeping that reads entities itself',
      in: 'services/auth/src/housekeeping.ts',
      of: './sessions/session.entity.ts',
      by: NAMES,
    },
    {
      what: 'refuses background work with an ORM of its own',
      in: 'services/auth/src/housekeeping.ts',
      of: '@mikro-orm/core',
      by: NAMES,
    },
    {
      what: 'lets a repository own statements',
      in: 'services/tasks/src/relay/relay.repository.ts',
      of: './relay.statements.ts',
      by: undefined,
    },
    {
      what: 'refuses an entity that knows who reads it',
      in: `${TASKS}/task.entity.ts`,
      of: './task.repository.ts',
      by: LAYERS,
    },
    {
      what: 'refuses the same of entities in one file',
      in: 'services/tasks/src/feed/feed.entities.ts',
      of: './feed.repository.ts',
      by: LAYERS,
    },
    {
      what: 'refuses a feed that knows its subscriptions',
      in: 'services/gateway/src/feed/feed.ts',
      of: '../subscriptions/subscriptions.ts',
      by: LAYERS,
    },
    {
      what: 'refuses subscriptions that know what carries them',
      in: 'services/gateway/src/subscriptions/subscriptions.ts',
      of: '../transports/transport.ts',
      by: LAYERS,
    },
    {
      what: 'refuses a client that knows more of ours than the public schema',
      in: 'packages/client/src/session.ts',
      of: '@taskmesh/contracts',
      by: MODULES,
    },
    {
      what: 'refuses a console that knows more of ours than the client',
      in: 'services/gateway/console/src/app.tsx',
      of: '@taskmesh/contracts',
      by: MODULES,
    },
    {
      what: 'refuses a console that knows the gateway that serves it',
      in: 'services/gateway/console/src/app.tsx',
      of: '../../src/config.ts',
      by: MODULES,
    },
    {
      what: 'refuses a gateway that goes past the graph to backups',
      in: 'services/gateway/src/rest/operators.ts',
      of: '@taskmesh/internal-api',
      by: NAMES,
    },
    {
      what: 'lets a gateway stream backups past the graph in one place',
      in: 'services/gateway/src/rest/backup/archives.ts',
      of: '@taskmesh/internal-api',
      by: undefined,
    },
    { what: 'lets a service use the libs', in: `${TASKS}/task.service.ts`, of: '@taskmesh/contracts', by: undefined },
  ];
  let broken: string[][];

  beforeAll(async () => {
    broken = await rulesBroken(
      imports.map(({ in: filePath, of }) => ({
        filePath,
        text: `import * as it from '${of}';\n\nexport const used = it;\n`,
      })),
      { types: false },
    );
  }, 180_000);

  it.each(imports.map(({ what, by }, index) => ({ what, by, index })))('$what', ({ by, index }) => {
    // Some of these files import each other then, too.
    expect(broken[index]?.filter((rule) => rule !== 'taskmesh/no-cycle')).toEqual(by === undefined ? [] : [by]);
  });
});

describe('every project', () => {
  const projects = globSync('{packages,libs,services,deploy}/*/package.json', { cwd: root });

  it.each([...projects, 'tests/package.json', 'bench/package.json'])(
    'says of which type and scope it is, or no boundary holds for it: %s',
    (file) => {
      const { nx } = JSON.parse(readFileSync(join(root, file), 'utf8')) as { nx: { tags: string[] } };
      expect(nx.tags.map((tag) => tag.split(':')[0]).toSorted()).toEqual(['scope', 'type']);
    },
  );
});
