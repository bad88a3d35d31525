import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rulesBroken } from './lint/rules-broken.ts';

const root = join(import.meta.dirname, '..');

const MODULES = '@nx/enforce-module-boundaries';
const LAYERS = 'import-x/no-restricted-paths';
const NAMES = '@typescript-eslint/no-restricted-imports';

/** What is refused by which rule, and what is not. */
const IMPORTS: Record<string, string> = {
  [MODULES]: `
    services/tasks/src/tasks/task.service.ts imports @taskmesh/auth: a service that uses another one
    services/gateway/src/parts.ts imports @taskmesh/tasks: a gateway that uses a service
    packages/federation/src/index.ts imports @taskmesh/service: a package that uses a lib
    libs/service/src/log.ts imports @taskmesh/tasks: a lib that uses a service
    services/tasks/src/relay/relay.ts imports kafkajs: a service with a broker of its own
    services/gateway/src/parts.ts imports pg: a gateway that reads a store
    packages/client/src/session.ts imports @taskmesh/contracts: a client that knows more of ours than the public schema
    services/gateway/console/src/app.tsx imports @taskmesh/contracts: a console that knows more of ours than the client
    services/gateway/console/src/app.tsx imports ../../src/config.ts: a console that knows the gateway that serves it`,
  [LAYERS]: `
    services/tasks/src/tasks/tasks.resolvers.ts imports ./task.repository.ts: a resolver that goes past its service
    services/tasks/src/tasks/task.repository.ts imports ../graphql/types.generated.ts: a repository that knows its transport
    services/tasks/src/tasks/task.entity.ts imports ./task.repository.ts: an entity that knows who reads it
    services/tasks/src/feed/feed.entities.ts imports ./feed.repository.ts: the same of entities in one file
    services/gateway/src/feed/feed.ts imports ../subscriptions/subscriptions.ts: a feed that knows its subscriptions
    services/gateway/src/subscriptions/subscriptions.ts imports ../transports/transport.ts: subscriptions that know what carries them`,
  [NAMES]: `
    services/tasks/src/tasks/task.service.ts imports ./task.statements.ts: a use case with a statement of its own
    services/tasks/src/tasks/task.service.ts imports ./task.entity.ts: a use case that reads entities itself
    services/tasks/src/relay/relay.ts imports ./relay.statements.ts: background work with a statement of its own
    services/auth/src/account-log/account-log.metrics.ts imports ./account-log.statements.ts: metrics with a statement of their own
    services/auth/src/housekeeping.ts imports ./sessions/session.entity.ts: housekeeping that reads entities itself
    services/auth/src/housekeeping.ts imports @mikro-orm/core: background work with an ORM of its own
    services/gateway/src/rest/operators.ts imports @taskmesh/internal-api: a gateway that goes past the graph to backups`,
  none: `
    services/tasks/src/relay/relay.repository.ts imports ./relay.statements.ts: a repository own statements
    services/gateway/src/rest/backup/archives.ts imports @taskmesh/internal-api: a gateway stream backups past the graph in one place
    services/tasks/src/tasks/task.service.ts imports @taskmesh/contracts: a service use the libs`,
};

describe('lint', () => {
  const imports = Object.entries(IMPORTS).flatMap(([rule, lines]) =>
    lines
      .trim()
      .split('\n')
      .map((line) => {
        const [, filePath = '', of, who] = /(\S+) imports (\S+): (.+)/.exec(line) ?? [];
        const expected = rule === 'none' ? [] : [rule];
        const text = `import * as it from '${of}';\n\nexport const used = it;\n`;
        return { what: `${rule === 'none' ? 'lets' : 'refuses'} ${who}`, filePath, text, expected };
      }),
  );
  let broken: string[][];

  beforeAll(async () => {
    broken = await rulesBroken(imports, { types: false });
  }, 180_000);

  it.each(imports.map((each, index) => ({ ...each, index })))('$what', ({ expected, index }) => {
    // Some of these files import each other then, too.
    expect(broken[index]?.filter((rule) => rule !== 'taskmesh/no-cycle')).toEqual(expected);
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
