import { sealCursor, TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createKafkaEventLog, type LogRecord } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { createSecretKey } from 'node:crypto';
import { Client } from 'pg';
import { Client as HttpClient } from 'undici';
import { newId, partOf } from '../../bare/tasks.ts';
import { taskInput } from '../../load/population.ts';
import type { Source } from '../cells.ts';
import { createdTask, titleOf } from '../change.ts';
import { nowMs } from './clock.ts';

/** A change that is due; an owner has at the most one among those that are made together. */
export interface Due {
  n: number;
  ownerId: string;
  /** The next number of the owner's feed. */
  sequence: number;
}

export interface ChangeSource {
  /** Makes changes in one go and says when (milliseconds, as `nowMs`): from that moment their delivery is measured. */
  make(changes: Due[]): Promise<number>;
  close(): Promise<void>;
}

/** Where the sources of a target are. */
export interface SourceAddresses {
  tasksDatabase?: string;
  kafka?: string;
  http?: string;
}

const CONNECTIONS = 4;

export async function openSource(
  source: Source,
  { tasksDatabase, kafka, http }: SourceAddresses,
): Promise<ChangeSource> {
  if (source === 'commit' && tasksDatabase) return openStore(tasksDatabase);
  if (source === 'kafka' && kafka) return openKafka(kafka, tasksDatabase);
  if (source === 'http' && http) return openHttp(http);
  throw new Error(`Changes cannot come from ${source} here.`);
}

/**
 * What the service writes for a task that is created (row, feed, log), for several owners at once, and the relay's call.
 * The time is taken last of all: what is left is the commit.
 */
const COMMIT = {
  name: 'bench-commit',
  text: `
    with input as (
      select * from unnest($1::smallint[], $2::uuid[], $3::uuid[], $4::text[]) i(part, id, owner_id, title)
    ), feed as (
      insert into feeds as f (owner_id, sequence) select owner_id, 1 from input
      on conflict (owner_id) do update set sequence = f.sequence + 1
      returning owner_id, sequence
    ), task as (
      insert into tasks (id, user_id, title, description, completed, due_date, category, priority, created_at, updated_at)
      select id, owner_id, title, $5, false, $6, $7, 'medium', now(), now() from input
      returning *
    ), change as (
      insert into changes (part, owner_id, sequence, kind, task, previous, occurred_at)
      select i.part, f.owner_id, f.sequence, 'INSERT', row_to_json(task), null, task.created_at
      from input i join feed f on f.owner_id = i.owner_id join task on task.id = i.id
      returning 1
    ), written as (select count(*) from change), called as (select pg_notify('taskmesh_task_changes', '') from written)
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as at from called`,
};

async function openStore(url: string): Promise<ChangeSource> {
  const clients = Array.from({ length: CONNECTIONS }, () => new Client({ connectionString: url }));
  await Promise.all(clients.map((client) => client.connect()));
  const { description, dueDate, category } = taskInput(1);
  return {
    async make(changes) {
      const values = [
        changes.map(({ ownerId }) => partOf(ownerId)),
        changes.map(() => newId()),
        changes.map(({ ownerId }) => ownerId),
        changes.map(({ n }) => titleOf(n)),
        ...[description, dueDate, category],
      ];
      // A connection does one statement after the other.
      const result = await clients[connectionOf(changes)]?.query<{ at: number }>({ ...COMMIT, values });
      return result?.rows[0]?.at ?? NaN;
    },
    close: async () => void (await Promise.all(clients.map((client) => client.end()))),
  };
}

/** Like the relay: what comes in while records are published goes out together with the next ones. */
async function openKafka(broker: string, tasksDatabase: string | undefined): Promise<ChangeSource> {
  const key = tasksDatabase && (await cursorKeyOf(tasksDatabase));
  const log = createLog({ service: 'load', level: 'warn' });
  const eventLog = createKafkaEventLog({ brokers: [broker], clientId: 'bench-load', log });
  let waiting: LogRecord[] = [];
  let next: Promise<number> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const publishWaiting = async (): Promise<number> => {
    await last;
    const records = waiting;
    waiting = [];
    next = undefined;
    const at = nowMs();
    const published = eventLog.publish(TASK_CHANGES_TOPIC, records);
    last = published.catch(() => undefined); // told to those who wait for it
    await published;
    return at;
  };
  return {
    make(changes) {
      for (const { ownerId, n, sequence } of changes) {
        // A gateway delivers only what the store signed.
        const cursor = key ? sealCursor(key, ownerId, { epoch: 1, sequence }) : undefined;
        waiting.push({ key: ownerId, value: JSON.stringify(createdTask(ownerId, n, sequence, cursor)) });
      }
      return (next ??= publishWaiting());
    },
    close: () => eventLog.close(),
  };
}

async function cursorKeyOf(tasksDatabase: string) {
  const client = new Client({ connectionString: tasksDatabase });
  await client.connect();
  const { rows } = await client.query<{ cursor_key: Buffer }>('select cursor_key from feed_state');
  await client.end();
  return rows[0] && createSecretKey(rows[0].cursor_key);
}

async function openHttp(url: string): Promise<ChangeSource> {
  const clients = Array.from({ length: CONNECTIONS }, () => new HttpClient(url));
  return {
    async make(changes) {
      const client = clients[connectionOf(changes)];
      const body = JSON.stringify(changes.map(({ ownerId, n, sequence }) => createdTask(ownerId, n, sequence)));
      const at = nowMs();
      const response = await client?.request({ path: '/', method: 'POST', body });
      await response?.body.dump();
      return at;
    },
    close: async () => void (await Promise.all(clients.map((client) => client.close()))),
  };
}

/** Changes of one owner go over one connection: none overtakes another. */
function connectionOf([first, ...others]: Due[]): number {
  return first && others.length === 0 ? partOf(first.ownerId) % CONNECTIONS : 0;
}
