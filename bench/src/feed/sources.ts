import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { createKafkaEventLog, type LogRecord } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { Client } from 'pg';
import { Client as HttpClient } from 'undici';
import { newId, partOf } from '../bare/server.ts';
import { taskInput } from '../load/calls.ts';
import { roundRobin, pace } from '../load/connections.ts';
import { nowMs, titleOf } from './sockets.ts';

/** How changes are made: committed in the store; for the bare server, published to Kafka or posted. */
export type SourceName = 'commit' | 'kafka' | 'http';

/** The addresses at which changes can be made. */
export interface Sources {
  tasksDatabase?: string;
  kafka?: string;
  http?: string;
}

/** A change to make. Changes that are made together have different owners. */
export interface PlannedChange {
  n: number;
  ownerId: string;
}

export interface Source {
  /** Makes changes together and returns the time (as `nowMs`) from which their delivery is measured. */
  make(changes: PlannedChange[]): Promise<number>;
  close(): Promise<unknown>;
}

const CONNECTIONS = 4;

export async function openSource(source: SourceName, { tasksDatabase, kafka, http }: Sources): Promise<Source> {
  if (source === 'commit' && tasksDatabase) return openStore(tasksDatabase);
  if (source === 'kafka' && kafka) return openKafka(kafka);
  if (source === 'http' && http) return openHttp(http);
  throw new Error(`Changes cannot come from ${source} here.`);
}

/**
 * Writes the same as the service for created tasks (row, feed, log), one per owner, and notifies the relay. The time is read
 * last, so that the measured time includes the commit itself.
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
    ), written as (select count(*) from change), notified as (select pg_notify('taskmesh_task_changes', '') from written)
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as at from notified`,
};

async function openStore(url: string): Promise<Source> {
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
      const result = await clients[connectionOf(changes)]?.query<{ at: number }>({ ...COMMIT, values });
      return result?.rows[0]?.at ?? NaN;
    },
    close: () => Promise.all(clients.map((client) => client.end())),
  };
}

/** Publishes like the relay: changes that arrive during a publish are published together next. */
function openKafka(broker: string): Source {
  const log = createLog({ service: 'load', level: 'warn' });
  const eventLog = createKafkaEventLog({ brokers: [broker], clientId: 'bench-load', log });
  let waiting: LogRecord[] = [];
  let next: Promise<number> | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const publish = async (): Promise<number> => {
    await last;
    const records = waiting;
    waiting = [];
    next = undefined;
    const at = nowMs();
    const published = eventLog.publish(TASK_CHANGES_TOPIC, records);
    last = published.catch(() => undefined); // rethrown to the callers below
    await published;
    return at;
  };
  return {
    make(changes) {
      waiting.push(...changes.map((change) => ({ key: change.ownerId, value: JSON.stringify(bareChange(change)) })));
      return (next ??= publish());
    },
    close: () => eventLog.close(),
  };
}

function openHttp(url: string): Source {
  const client = new HttpClient(url);
  return {
    async make(changes) {
      const at = nowMs();
      const response = await client.request({
        path: '/',
        method: 'POST',
        body: JSON.stringify(changes.map(bareChange)),
      });
      await response.body.dump();
      return at;
    },
    close: () => client.close(),
  };
}

/** A change as the bare server delivers it, with the same size as a gateway's message. */
export type BareChange = ReturnType<typeof bareChange>;

function bareChange({ n, ownerId }: PlannedChange) {
  const now = new Date().toISOString();
  const times = { createdAt: now, updatedAt: now };
  const task = { id: newId(), ...taskInput(n), title: titleOf(n), priority: 'medium', ...times, version: 1 };
  return { ownerId, sequence: n, kind: 'INSERT', cursor: 'x'.repeat(64), task };
}

/** An owner's changes use one connection, so that none overtakes another. */
function connectionOf([first, ...others]: PlannedChange[]): number {
  return first && others.length === 0 ? partOf(first.ownerId) % CONNECTIONS : 0;
}

/** Writes tasks into the store like the service does, but without the service. */
export async function createCommitter(tasksDatabase: string) {
  const source = await openStore(tasksDatabase);
  let n = 0;
  return {
    /** Creates single tasks for the owners in turn, at random moments. */
    atRandom(owners: string[], rate: { perSecond: number; seconds: number }) {
      const next = roundRobin(owners);
      return pace(() => source.make([{ n: ++n, ownerId: next() }]), { ...rate, random: Math.random });
    },
    close: source.close,
  };
}
