import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { Redis } from 'ioredis';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { sumOf } from '../figures.ts';
import { isPublished } from '../targets/tasks-database.ts';

/** The relay's locks: the first half of their names (`LOCK_CLASS` of the tasks service). */
const RELAY_LOCKS = 7_203_001;
/** Sessions tell their counts to all once a second. */
export const COUNTS_LATE_MS = 1_100;

export type Stores = Awaited<ReturnType<typeof openStores>>;

const COUNTS = `
  select (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits,
    pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
    (select coalesce(sum(fsyncs), 0)::float8 from pg_stat_io where object = 'wal') as flushes,
    pg_total_relation_size('tasks')::float8 as tasks, pg_total_relation_size('changes')::float8 as changes,
    pg_total_relation_size('feeds')::float8 as feeds`;

export async function openStores(where: { tasksDatabase: string; redis: string; kafkaDir: string }) {
  const client = new Client({ connectionString: where.tasksDatabase });
  await client.connect();
  const redis = new Redis(where.redis);
  const one = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row> => {
    const [row] = (await client.query(text, values)).rows as Row[];
    if (!row) throw new Error('The store did not answer.');
    return row;
  };
  return {
    /** What the stores have counted since they began; the sizes are with indexes. */
    async counts() {
      const { commits, wal, flushes, ...bytes } =
        await one<Record<'commits' | 'wal' | 'flushes' | 'tasks' | 'changes' | 'feeds', number>>(COUNTS);
      const redisCommands = Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1]);
      return { commits, walBytes: wal, flushes, bytes, kafkaBytes: topicBytes(where.kafkaDir), redisCommands };
    },
    /** The process of PostgreSQL that works for the relay. */
    async relaySession() {
      const locks = `select pid from pg_locks where locktype = 'advisory' and classid = $1 limit 1`;
      return (await one<{ pid: number }>(locks, [RELAY_LOCKS])).pid;
    },
    /** Does at once what autovacuum and the checkpointer would do some time. */
    async vacuum() {
      for (const text of ['vacuum analyze tasks, feeds, changes', 'checkpoint']) await client.query(text);
    },
    /** Whether every change is published. */
    isPublished: () => isPublished(client),
    async close() {
      redis.disconnect();
      await client.end();
    },
  };
}

/** What the topic's records take on the disk. */
function topicBytes(kafkaDir: string): number {
  const files = globSync(join(kafkaDir, '**', `${TASK_CHANGES_TOPIC}-*`, '*.log'));
  return sumOf(files.map((file) => statSync(file).size));
}
