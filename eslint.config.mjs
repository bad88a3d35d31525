import nx from '@nx/eslint-plugin';
import { createNodeResolver, importX } from 'eslint-plugin-import-x';
import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import tseslint from 'typescript-eslint';

// Those behind the gateway.
const innerServices = globSync('*/codegen.json', { cwd: new URL('services/', import.meta.url) }).map(dirname);

// Which project may use which: see docs/architecture.md. Tags stand in each package.json under `nx.tags`.
const depConstraints = [
  {
    sourceTag: 'type:app',
    onlyDependOnLibsWithTags: ['type:service', 'type:package', 'type:lib', 'type:tool', 'type:app'],
  },
  { sourceTag: 'type:tool', onlyDependOnLibsWithTags: ['type:package', 'type:lib'] },
  {
    sourceTag: 'type:service',
    onlyDependOnLibsWithTags: ['type:package', 'type:lib'],
    bannedExternalImports: ['kafkajs', 'ioredis'],
  },
  { sourceTag: 'type:lib', onlyDependOnLibsWithTags: ['type:package', 'type:lib'] },
  { sourceTag: 'type:testing', onlyDependOnLibsWithTags: ['type:testing'] },
  // Engines that know nothing of Taskmesh.
  { sourceTag: 'type:package', onlyDependOnLibsWithTags: ['type:package'] },
  {
    sourceTag: 'scope:gateway',
    onlyDependOnLibsWithTags: ['scope:gateway', 'scope:shared'],
    bannedExternalImports: ['@mikro-orm/*', 'pg'],
  },
  ...innerServices.map((name) => ({
    sourceTag: `scope:${name}`,
    onlyDependOnLibsWithTags: [`scope:${name}`, 'scope:shared'],
    // Backup loads and dumps databases over PostgreSQL's own protocol; the others go through libs/store.
    bannedExternalImports: ['@apollo/gateway', '@apollo/server', ...(name === 'backup' ? [] : ['pg'])],
  })),
  { sourceTag: 'scope:shared', onlyDependOnLibsWithTags: ['scope:shared'] },
  // What runs in other people's pages knows the public schema, and nothing else of ours.
  { sourceTag: 'scope:client', onlyDependOnLibsWithTags: ['scope:client'] },
  { sourceTag: 'scope:app', onlyDependOnLibsWithTags: ['*'] },
];

// Tests may look behind a service's back, into its store or its broker; what helps tests serves theirs alone.
const constraintsOfTests = depConstraints.map(({ sourceTag, onlyDependOnLibsWithTags }) => ({
  sourceTag,
  onlyDependOnLibsWithTags: [...onlyDependOnLibsWithTags, 'type:testing'],
}));

// Inside a service, data flows edge → use case → store. Each zone forbids one step in the wrong direction.
const zones = [
  {
    target: './services/*/src/**/*.service.ts',
    from: ['./services/*/src/graphql/**', './services/*/src/passport.ts', './services/*/src/**/*.resolvers.ts'],
    message: 'A service does not know its transport.',
  },
  {
    target: './services/*/src/**/*.resolvers.ts',
    from: [
      './services/*/src/**/*.repository.ts',
      './services/*/src/**/*.statements.ts',
      './services/*/src/database.ts',
    ],
    message: 'Resolvers go through the service.',
  },
  {
    target: './services/*/src/**/*.repository.ts',
    from: ['./services/*/src/**/*.service.ts', './services/*/src/**/*.resolvers.ts', './services/*/src/graphql/**'],
    message: 'A repository knows entities and statements only.',
  },
  {
    target: ['./services/*/src/**/*.entity.ts', './services/*/src/**/*.entities.ts'],
    from: ['./services/*/src/**/*.service.ts', './services/*/src/**/*.repository.ts', './services/*/src/graphql/**'],
    message: 'An entity knows nothing but its own shape.',
  },
  {
    target: './services/gateway/src/feed/**',
    from: ['./services/gateway/src/subscriptions/**', './services/gateway/src/transports/**'],
    message: 'The feed knows no protocol.',
  },
  {
    target: './services/gateway/src/subscriptions/**',
    from: './services/gateway/src/transports/**',
    message: 'Subscriptions are the same over every transport.',
  },
];

const ASK_REPOSITORY = 'Repositories own every statement: use one of them.';

// What only a repository imports.
const storeAccess = [
  { regex: '\\.statements\\.ts$', message: ASK_REPOSITORY },
  { regex: '^@mikro-orm/', allowTypeImports: true, message: ASK_REPOSITORY },
  {
    regex: '\\.(entity|entities)\\.ts$',
    importNamePattern: 'Entity$',
    allowTypeImports: true,
    message: 'Repositories read and write entities; others know their types.',
  },
];

const ENVIRONMENT = {
  object: 'process',
  property: 'env',
  message: 'Only main.ts reads the environment; pass configuration in.',
};
const WALL_CLOCK = {
  object: 'Date',
  property: 'now',
  message: 'Measure durations with performance.now(), which no one sets. Points in time come from the Clock.',
};
/** What these write is read by others as a point in time. */
const WRITERS_OF_TIMES = [
  'packages/client/src/time.ts',
  'packages/realtime-protocol/src/server.ts',
  'libs/service/src/time.ts',
  'libs/service/src/telemetry/sdk.ts',
  'packages/subgraph/src/field-trace.ts',
  'packages/event-log/src/kafka/node.ts',
  'services/gateway/src/connections/requests.ts',
  'deploy/local/src/machine-token.ts',
];

const namesOf = (object) => Object.fromEntries(Object.getOwnPropertyNames(object).map((name) => [name, 'readonly']));

export default tseslint.config(
  {
    ignores: ['**/node_modules', '.cache', '.data', '.nx', '**/*.generated.ts', 'bench/results', '**/fixtures/**'],
  },
  {
    files: ['**/*.{ts,tsx}', '**/*.mjs'],
    extends: [...tseslint.configs.recommended, ...tseslint.configs.stylistic],
    plugins: { '@nx': nx, 'import-x': importX },
    settings: {
      'import-x/resolver-next': [createNodeResolver({ extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'] })],
    },
    rules: {
      '@nx/enforce-module-boundaries': ['error', { allow: [], depConstraints, enforceBuildableLibDependency: false }],
      'import-x/no-default-export': 'error',
      'import-x/no-restricted-paths': ['error', { zones }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/no-empty-function': 'off', // a function that does nothing is a choice like any other
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      'no-restricted-properties': ['error', ENVIRONMENT],
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/await-thenable': ['error', { allowMixedPromiseArrays: true }],
      '@typescript-eslint/no-deprecated': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    // The compiler knows the names of all others.
    files: ['**/*.mjs'],
    languageOptions: { globals: namesOf(globalThis) },
    rules: { 'no-undef': 'error' },
  },
  {
    // The edges of a process: they read its environment and print to its terminal.
    files: [
      '**/main.ts',
      '**/*main.ts',
      '**/*.test.ts',
      'libs/testing/**',
      'tests/**',
      'bench/**',
      'tools/**',
      'scripts/**',
      'deploy/**',
      'charts/**',
      'docs/examples/**',
    ],
    rules: { 'no-restricted-properties': 'off', 'no-console': 'off' },
  },
  {
    files: ['services/*/src/**/*.ts', '{packages,libs}/*/src/**/*.ts'],
    ignores: ['**/*main.ts', '**/*.test.ts', '**/testing/**', 'libs/testing/**', ...WRITERS_OF_TIMES],
    rules: { 'no-restricted-properties': ['error', ENVIRONMENT, WALL_CLOCK] },
  },
  {
    // What starts programs passes the environment on.
    files: ['{deploy/*,packages/local-servers}/src/**/*.ts'],
    ignores: ['**/*.test.ts', ...WRITERS_OF_TIMES],
    rules: { 'no-restricted-properties': ['error', WALL_CLOCK] },
  },
  {
    files: ['**/*.test.ts', '**/testing/**', '**/tests/**'],
    rules: {
      '@nx/enforce-module-boundaries': ['error', { allow: [], depConstraints: constraintsOfTests }],
    },
  },
  {
    // The import of a restored store makes its statements from the columns that it finds.
    files: ['services/*/src/**/*.ts'],
    ignores: [
      'services/*/src/**/*.{repository,statements,entity,entities}.ts',
      'services/*/src/database.ts',
      'services/*/src/import/**',
      '**/*.test.ts',
    ],
    rules: { '@typescript-eslint/no-restricted-imports': ['error', { patterns: storeAccess }] },
  },
  {
    // Parts of backup work on other databases than their own; its use cases leave that to them.
    files: ['services/*/src/**/*.service.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { patterns: [...storeAccess, { regex: '^pg$', allowTypeImports: true, message: ASK_REPOSITORY }] },
      ],
    },
  },
  {
    // Connections make it; rest/backup is where it is used.
    files: ['services/gateway/src/**/*.ts'],
    ignores: ['services/gateway/src/connections/**', 'services/gateway/src/rest/backup/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@taskmesh/internal-api',
              importNames: ['BackupWork'],
              message: 'Backups are requested over the graph; rest/backup has what it cannot carry (ADR 33).',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['services/*/src/**/*.ts'],
    ignores: ['services/*/src/**/*.statements.ts', 'services/*/src/import/**', '**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'VariableDeclarator[init] > Identifier > TSTypeAnnotation > TSTypeReference[typeName.name="Statement"]',
          message: 'Named SQL is in *.statements.ts, where a test looks at its plan.',
        },
        {
          selector: 'TSTypeAliasDeclaration[id.name=/Service$/]',
          message: 'A service is an interface, which says what its use cases do and throw.',
        },
        {
          selector: 'TSInterfaceDeclaration[id.name=/Repository$/]',
          message: 'A repository is what its factory returns: ReturnType<typeof create…Repository>.',
        },
      ],
    },
  },
  {
    // In no project: they are about all of them, and know their files.
    files: ['tools/**', 'scripts/**', 'deploy/image/**'],
    rules: { '@nx/enforce-module-boundaries': 'off' },
  },
  { files: ['**/*.config.{ts,mjs}', '**/migrations/*.ts', 'tools/**'], rules: { 'import-x/no-default-export': 'off' } },
);
