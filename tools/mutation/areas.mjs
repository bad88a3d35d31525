/**
 * The folders where a mistake loses or leaks something, each with the tests that have to notice it: the nearest ones, because
 * every mutant costs a run of them.
 */
export const AREAS = {
  feed: {
    mutate: ['services/gateway/src/realtime/feed.ts', 'services/gateway/src/realtime/owner-feed.ts'],
    tests: ['services/gateway/src/realtime/*.test.ts'],
  },
  relay: {
    mutate: ['services/tasks/src/relay/*.ts'],
    tests: ['services/tasks/src/relay/*.test.ts', 'services/tasks/tests/{relay,lease,dead-letters}.test.ts'],
  },
  cursors: {
    mutate: ['services/tasks/src/feed/cursor.ts', 'services/tasks/src/feed/cursors.ts'],
    tests: ['services/tasks/src/feed/*.test.ts', 'services/tasks/tests/feed.test.ts'],
  },
  identity: { mutate: ['libs/identity/src/*.ts'], tests: ['libs/identity/src/*.test.ts'] },
  tokens: {
    mutate: ['services/gateway/src/auth/*.ts'],
    tests: ['services/gateway/src/auth/*.test.ts', 'services/gateway/tests/access-tokens.test.ts'],
  },
  loader: {
    mutate: ['services/backup/src/loader/*.ts'],
    tests: ['services/backup/src/loader/*.test.ts', 'services/backup/tests/loader/*.test.ts'],
  },
  swap: {
    mutate: ['services/backup/src/databases/swap.ts', 'services/backup/src/restore/*.ts'],
    tests: ['services/backup/tests/{restore,restore-crash,settle-restore}.test.ts'],
  },
};
