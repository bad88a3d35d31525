/**
 * The folders where a mistake loses or leaks something, each with the tests that have to notice it (parts of their paths):
 * the nearest ones, because every mutant costs a run of them.
 */
export const AREAS: Readonly<Record<string, { mutate: string[]; tests: string[] }>> = {
  feed: {
    mutate: ['services/gateway/src/realtime/feed.ts', 'services/gateway/src/realtime/owner-feed.ts'],
    tests: ['services/gateway/src/realtime/feed'],
  },
  relay: {
    mutate: ['services/tasks/src/relay/*.ts'],
    tests: [
      'services/tasks/src/relay',
      'services/tasks/tests/relay',
      'services/tasks/tests/lease',
      'services/tasks/tests/dead-letters',
    ],
  },
  cursors: {
    mutate: ['services/tasks/src/feed/cursor.ts', 'services/tasks/src/feed/cursors.ts'],
    tests: ['services/tasks/src/feed', 'services/tasks/tests/feed'],
  },
  identity: { mutate: ['libs/identity/src/*.ts'], tests: ['libs/identity'] },
  tokens: {
    mutate: ['services/gateway/src/auth/*.ts'],
    tests: ['services/gateway/src/auth', 'services/gateway/tests/access-tokens'],
  },
  loader: {
    mutate: ['services/backup/src/loader/*.ts'],
    tests: ['services/backup/src/loader', 'services/backup/tests/loader'],
  },
  swap: {
    mutate: ['services/backup/src/databases/swap.ts', 'services/backup/src/restore/*.ts'],
    tests: ['services/backup/tests/restore', 'services/backup/tests/settle-restore'],
  },
};
