import type { Statement } from '@taskmesh/store';
import { statementsOf } from '@taskmesh/store/testing';
import { createLog } from '@taskmesh/service';
import { createTestDatabase, type TestDatabase } from '@taskmesh/testing';
import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { createTasksDatabase } from '../src/database.ts';
import * as feed from '../src/feed/feed.statements.ts';
import * as owners from '../src/owners/owner.statements.ts';
import * as deadLetters from '../src/relay/dead-letter.statements.ts';
import * as relay from '../src/relay/relay.statements.ts';
import { GIVEN_FIELDS } from '../src/tasks/task-row.ts';
import { listStatement } from '../src/tasks/list.statements.ts';
import * as tasks from '../src/tasks/task.statements.ts';
import type { TaskOrder } from '../src/tasks/task-order.ts';

/** The tables of owners as the migrations make them, divided by owner, with the keys that a division can have. */
const SHARDS = 4;
const DIVIDED = [
  { table: 'tasks', by: 'user_id' },
  { table: 'feeds', by: 'owner_id', key: 'owner_id' },
  { table: 'changes', by: 'owner_id', key: 'owner_id, sequence' },
  { table: 'idempotency_keys', by: 'owner_id', key: 'owner_id, key' },
  { table: 'closed_owners', by: 'owner_id', key: 'owner_id' },
];
const SCHEMA = [
  'create schema made',
  'set search_path to public, made',
  ...DIVIDED.flatMap(({ table, by, key }) => [
    `alter table ${table} set schema made`,
    `create table ${table} (like made.${table} including defaults${key ? `, unique (${key})` : ''}) partition by hash (${by})`,
    ...Array.from(
      { length: SHARDS },
      (_, shard) =>
        `create table ${table}_${shard} partition of ${table} for values with (modulus ${SHARDS}, remainder ${shard})`,
    ),
  ]),
];

const OWNER = '0198c0de-0000-7000-8000-000000000001';
const TASK = '0198c0de-0000-7000-8000-000000000002';
const NOW = '2026-11-20T10:00:00.000Z';
const NEW = [0, null, TASK, OWNER, NOW, 50_000];
const GIVEN: Record<string, unknown> = { title: 'title', completed: false, priority: 'low' };
const givenValues = GIVEN_FIELDS.map((field) => GIVEN[field] ?? null);
const WRITE = [0, null, TASK, OWNER, null, NOW];

/** What each is asked with; without values it takes none. */
const VALUES: Record<string, unknown[]> = {
  'task-create': [...NEW, ...givenValues],
  'task-create-once': [...NEW, 'key', 'hash', NOW, ...givenValues],
  'task-open-feed': [OWNER],
  'task-is-full': [OWNER, 1],
  'task-first-created': [OWNER, 'key', NOW],
  'task-forget-expired-keys': [NOW, 2_000],
  'task-forget-surplus-keys': [NOW, 2_000, 10_000],
  'task-update': [...WRITE, ...givenValues.flatMap((value) => [true, value])],
  'task-delete': WRITE,
  'task-find': [TASK, OWNER],
  'task-statistics': [OWNER],
  'feed-count-tasks': [OWNER, 10_000],
  'feed-heads': [[OWNER]],
  'feed-changes-after': [OWNER, 1, 100],
  'feed-new-epoch': [1],
  'feed-forget-changes': [1_000, 0, 2_000, []],
  'feed-forget-surplus': [50_000, 2_000],
  'relay-read': [[0, 1], [0, 0], 500, []],
  'relay-mark': [[1, 2]],
  'relay-mark-and-read': [[0, 1], [0, 0], 500, [], [1, 2]],
  'relay-read-owed': [[OWNER], [1], [100]],
  'relay-dead-letter': [1, 'reason'],
  'dead-letters-note-unreadable': ['record 1', OWNER, 1, 'reason', 'record', 10],
  'dead-letters-list': [0, 100],
  'dead-letters-replay': [[1]],
  'dead-letters-discard': [[1]],
  'owners-close': [1, 1, 1, 2, OWNER, NOW],
  'owners-move': [1, 1, 2],
  'owners-closed': [OWNER, 100],
  'owners-delete-tasks': [0, OWNER, NOW, 200],
  'owners-erase-changes': [OWNER, 1_000],
  'owners-erase-others': [OWNER, 1_000],
  'owners-finish': [OWNER],
};

let store: TestDatabase;
let client: Client;
beforeAll(async () => {
  store = await createTestDatabase('shards');
  const log = createLog({ service: 'tasks', level: 'silent' });
  const database = await createTasksDatabase({ url: store.url, poolSize: 1, log });
  await database.migrate();
  await database.close();
  client = new Client({ connectionString: store.url });
  await client.connect();
  await client.query(SCHEMA.join(';'));
});
afterAll(async () => {
  await client.end();
  await store.drop();
});

interface PlanNode {
  'Relation Name'?: string;
  Plans?: PlanNode[];
}

/** Which shards of which tables a statement looks into when it is asked about one owner. */
async function shardsOf(statement: Statement, values = VALUES[statement.name] ?? []): Promise<Set<string>> {
  const { rows } = await client.query(`explain (format json) ${statement.text}`, values);
  const [{ Plan }] = (rows as { 'QUERY PLAN': [{ Plan: PlanNode }] }[])[0]?.['QUERY PLAN'] ?? [{ Plan: {} }];
  const relations = (node: PlanNode): string[] => [
    ...(node['Relation Name'] ? [node['Relation Name']] : []),
    ...(node.Plans ?? []).flatMap(relations),
  ];
  return new Set(relations(Plan).filter((name) => /_\d$/.test(name)));
}

/** `one`: of each table at most the owner's shard. */
async function reachOf(statement: Statement, values?: unknown[]): Promise<'one' | 'all' | 'none'> {
  const shards = await shardsOf(statement, values);
  if (shards.size === 0) return 'none';
  const tables = new Set([...shards].map((name) => name.slice(0, -2)));
  return tables.size === shards.size ? 'one' : 'all';
}

/** Besides these, every statement needs one owner's shard alone. */
const ALL_SHARDS = [
  ...['relay-read', 'relay-mark', 'relay-mark-and-read', 'relay-read-owed', 'relay-backlog', 'relay-has-backlog'],
  ...['feed-clock', 'feed-forget-changes', 'feed-forget-surplus'],
  ...['task-forget-expired-keys', 'task-forget-surplus-keys'],
  ...['relay-dead-letter', 'dead-letters-list', 'dead-letters-replay', 'feed-count-tasks'],
  ...['owners-closed', 'owners-backlog'],
];
/** They read nothing of any owner. */
const NO_SHARD = [
  ...['task-open-feed', 'feed-state', 'feed-new-epoch', 'relay-writers', 'relay-epoch', 'relay-wake-others'],
  ...['dead-letters-discard', 'dead-letters-count'],
  ...['owners-position', 'owners-lock-position', 'owners-move', 'owners-close'],
];

it('every statement needs one owner’s shard alone, but those that are known to look at all', async () => {
  const reaches: Record<string, string> = {};
  const expected: Record<string, string> = {};
  for (const statement of statementsOf(tasks, feed, relay, deadLetters, owners)) {
    const { name } = statement;
    reaches[name] = await reachOf(statement);
    expected[name] = ALL_SHARDS.includes(name) ? 'all' : NO_SHARD.includes(name) ? 'none' : 'one';
  }
  expect(reaches).toEqual(expected);
  expect(ALL_SHARDS.filter((name) => !(name in reaches))).toEqual([]);
});

it('every list does', async () => {
  const given: Record<string, unknown> = {
    owner: OWNER,
    category: 'some',
    withTotal: true,
  };
  const placeValues = {
    CREATED_AT: [NOW, TASK],
    UPDATED_AT: [NOW, NOW, TASK],
    DUE_DATE: [NOW, NOW, TASK],
    PRIORITY: [1, NOW, TASK],
  };
  for (const [field, place] of Object.entries(placeValues) as [TaskOrder['field'], unknown[]][])
    for (const isFiltered of [false, true])
      for (const isBehind of [false, true]) {
        const order: TaskOrder = { field, direction: 'ASC' };
        const statement = listStatement({ order, isFiltered, isBehind, withFeed: true, withPrevious: true });
        const values: Record<string, unknown> = {
          limit: 50,
          offset: 0,
          ...given,
          ...Object.fromEntries(place.map((value, n) => [`place ${n}`, value])),
        };
        const reach = await reachOf(
          statement,
          statement.parameters.map((name) => values[name]),
        );
        expect([statement.name, reach]).toEqual([statement.name, 'one']);
      }
});

it('the documentation names those that look at all', () => {
  const text = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8');
  expect(ALL_SHARDS.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
