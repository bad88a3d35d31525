/**
 * The files where a mistake loses or leaks something, each with the tests that have to notice it (parts of their paths):
 * the nearest and quickest first, because every mutant costs a run of them, up to the first that fails.
 */
export const AREAS: Readonly<Record<string, { mutate: string[]; tests: string[] }>> = {
  feed: {
    mutate: ['services/gateway/src/feed/feed.ts', 'services/gateway/src/feed/owner-feed.ts'],
    tests: [
      'services/gateway/src/feed/owner-feed',
      'services/gateway/src/feed/feed',
      'services/gateway/src/feed/replays',
      'tests/simulation/simulation.test',
    ],
  },
  channels: {
    mutate: [
      'services/gateway/src/transports/phoenix/channel.ts',
      'services/gateway/src/transports/phoenix/channels.ts',
      'services/gateway/src/transports/phoenix/channel-reader.ts',
    ],
    tests: [
      'services/gateway/tests/channel-ends',
      'services/gateway/tests/channel-owners.test',
      'services/gateway/tests/channel-start-cursor',
      'services/gateway/tests/channel-filters',
      'services/gateway/tests/channel-owners.random',
      'tests/simulation/simulation.test',
    ],
  },
  kafka: {
    mutate: [
      'libs/messaging/src/kafka/follower.ts',
      'libs/messaging/src/kafka/leaders-answer.ts',
      'libs/messaging/src/kafka/positions.ts',
      'libs/messaging/src/kafka/producer.ts',
      'libs/messaging/src/kafka/publisher.ts',
      'libs/messaging/src/kafka/reader.ts',
    ],
    tests: ['libs/messaging/src/kafka/', 'libs/messaging/src/kafka.test'],
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
    mutate: ['services/tasks/src/feed/signed-cursor.ts', 'services/tasks/src/feed/cursors.ts'],
    tests: ['services/tasks/src/feed/signed-cursor', 'services/tasks/src/feed/cursors', 'services/tasks/tests/feed'],
  },
  identity: { mutate: ['libs/identity/src/*.ts'], tests: ['libs/identity'] },
  tokens: {
    mutate: ['services/gateway/src/auth/*.ts'],
    tests: [
      'services/gateway/src/auth/',
      'services/gateway/tests/operator-guesses',
      'services/gateway/tests/personal-tokens',
    ],
  },
  loader: {
    mutate: ['services/backup/src/loader/*.ts'],
    tests: [
      'services/backup/src/loader',
      'services/backup/tests/loader/planned',
      'services/backup/tests/loader/run-script',
      'services/backup/tests/loader/load-dump',
      'services/backup/tests/loader/refused-dumps',
    ],
  },
  archives: {
    mutate: ['services/backup/src/archives/{entry-rules,extract-archive,byte-limit}.ts'],
    tests: ['services/backup/src/archives/entry-rules', 'services/backup/tests/archives/extract-archive'],
  },
  swap: {
    mutate: [
      'services/backup/src/databases/{database-ids,drop-database,lock-writers,servers,swap}.ts',
      'services/backup/src/restore/{exchange-stores,left-databases,restore-stores,restore.repository,settle-restore,swap-stores,undo-restore}.ts',
    ],
    tests: [
      'services/backup/src/restore',
      'services/backup/tests/drop-database',
      'services/backup/tests/swap-stores',
      'services/backup/tests/settle-stores',
      'services/backup/tests/restore.repository',
      'services/backup/tests/lock-writers',
      'services/backup/tests/restore-stores',
    ],
  },
};
