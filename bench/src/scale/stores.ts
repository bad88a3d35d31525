import { TASK_CHANGES_TOPIC } from '@taskmesh/events';
import { globSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Client } from 'pg';

/** The relay's locks: the first half of their names (`LOCK_CLASS` of the tasks service). */
const RELAY_LOCKS = 7_203_001;
/** Sessions tell their counts to all once a second. */
export const COUNTS_LATE_MS = 1_100;

/** What the stores have counted since they began. */
export interface Counts {
  commits: number;
  walBytes: number;
  flushes: number;
  /** With indexes. */
  bytes: Record<'tasks' | 'changes' | 'feeds', number>;
  kafkaBytes: number;
  redisCommands: number;
}

export interface Stores {
  counts(): Promise<Counts>;
  /** The process of PostgreSQL that works for the relay. */
  relaySession(): Promise<number>;
  /** Does at once what autovacuum and the checkpointer would do some time. */
  vacuum(): Promise<void>;
  /** Whether every change is published. */
  isPublished(): Promise<boolean>;
  close(): Promise<void>;
}

const COUNTS = `
  select (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits,
    pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as wal,
    (select coalesce(sum(fsyncs), 0)::float8 from pg_stat_io where object = 'wal') as flushes,
    pg_total_relation_size('tasks')::float8 as tasks, pg_total_relation_size('changes')::float8 as changes,
    pg_total_relation_size('feeds')::float8 as feeds`;

export async function openStores(where: { tasksDatabase: string; redis: string; kafkaDir: string }): Promise<Stores> {
  const client = new Client({ connectionString: where.tasksDatabase });
  await client.connect();
  const one = async <Row extends object>(text: string, values: unknown[] = []): Promise<Row> => {
    const [row] = (await client.query(text, values)).rows as Row[];
    if (!row) throw new Error('The store did not answer.');
    return row;
  };
  return {
    async counts() {
      const { commits, wal, flushes, ...bytes } = await one<
        Record<'commits' | 'wal' | 'flushes', number> & Counts['bytes']
      >(COUNTS);
      const redisCommands = await commandsOf(where.redis);
      return { commits, walBytes: wal, flushes, bytes, kafkaBytes: topicBytes(where.kafkaDir), redisCommands };
    },
    relaySession: async () =>
      (
        await one<{ pid: number }>(`select pid from pg_locks where locktype = 'advisory' and classid = $1 limit 1`, [
          RELAY_LOCKS,
        ])
      ).pid,
    async vacuum() {
      for (const text of ['vacuum analyze tasks, feeds, changes', 'checkpoint']) await client.query(text);
    },
    isPublished: async () =>
      !(await one<{ left: boolean }>('select exists(select 1 from changes where published_at is null) as left')).left,
    close: () => client.end(),
  };
}

/** What the topic's records take on the disk. */
function topicBytes(kafkaDir: string): number {
  const files = globSync(join(kafkaDir, '**', `${TASK_CHANGES_TOPIC}-*`, '*.log'));
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

function commandsOf(url: string): Promise<number> {
  const { hostname, port, password } = new URL(url);
  const say = [...(password ? [`AUTH ${password}`] : []), 'INFO stats', ''].join('\r\n');
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () => socket.write(say));
    socket.setEncoding('latin1').on('error', reject);
    socket.on('close', () =>
      reject(new Error(`Redis did not say how many commands it has had: ${text.slice(0, 200)}`)),
    );
    socket.on('data', (chunk: string) => {
      text += chunk;
      const found = /total_commands_processed:(\d+)\r\n/.exec(text);
      if (found) resolve(Number(found[1]));
      if (found || /^-/m.test(text)) socket.destroy();
    });
  });
}
