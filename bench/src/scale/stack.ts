import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { transferOwnership, stopPart } from '../machine/processes.ts';
import { cpuMsOf } from '../machine/cpu.ts';
import { isPublished, startSeparate, tasksDatabaseOn, type TargetOptions } from '../machine/targets.ts';
import { difference, sumOf } from '../run/figures.ts';
import { PARTS, type Cpu, type Part } from './model.ts';

/** The class of the relay's advisory locks (`LOCK_CLASS` in the tasks service). */
const RELAY_LOCKS = 7_203_001;
const COUNTS = `
  select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as "walBytes",
    pg_total_relation_size('tasks')::float8 as "taskBytes", pg_total_relation_size('changes')::float8 as "changeBytes",
    pg_total_relation_size('feeds')::float8 as "feedBytes"`;
type Counts = Record<'walBytes' | 'taskBytes' | 'changeBytes' | 'feedBytes', number>;

export type ScaleStack = Awaited<ReturnType<typeof startScaleStack>>;
export type Stretch = Awaited<ReturnType<ScaleStack['stretch']>>;

/** Starts a whole stack, and measures the resources of its parts. */
export async function startScaleStack(options: TargetOptions & { gateways: number }) {
  await using closers = new AsyncDisposableStack();
  const stack = closers.adopt(await startSeparate(options), stopPart);
  const tasksDatabase = tasksDatabaseOn(stack.servers.postgres);
  const client = new Client({ connectionString: tasksDatabase });
  await client.connect();
  closers.defer(() => client.end());
  const one = async <Row extends object>(text: string): Promise<Row> => {
    const [row] = (await client.query(text)).rows as Row[];
    if (!row) throw new Error('The store did not respond.');
    return row;
  };
  const pidsOf = (part: Part) =>
    [...stack.processes.values()].filter(({ name }) => name.replace(/-\d+$/, '') === part).map(({ pid }) => pid);
  /** Reads the stores' counters since their start. Sizes include indexes. */
  const counts = async () => {
    const files = globSync(join(options.dataDir, 'kafka', '**', `${TASK_CHANGES_TOPIC}-*`, '*.log'));
    return { ...(await one<Counts>(COUNTS)), recordBytes: sumOf(files.map((file) => statSync(file).size)) };
  };
  /** Reads CPU-ms since the start of the processes, and of the session in which the relay reads and marks changes. */
  const cpuTimes = async () => {
    const locks = `select pid from pg_locks where locktype = 'advisory' and classid = ${RELAY_LOCKS} limit 1`;
    const { pid } = await one<{ pid: number }>(locks);
    const byPart = PARTS.map((part) => [part, sumOf(cpuMsOf(pidsOf(part)))]);
    const relaySession = sumOf(cpuMsOf([pid]));
    return { seconds: performance.now() / 1_000, cpu: Object.fromEntries(byPart) as Cpu, relaySession }; // all of the parts
  };
  return {
    ...{ urls: stack.urls, tasksDatabase, kafka: stack.servers.kafka, gatewayPids: pidsOf('gateway') },
    /** Measures work until its last change is published. */
    async stretch(work: () => Promise<unknown>) {
      const before = { ...(await counts()), ...(await cpuTimes()) };
      await work();
      while (!(await isPublished(client))) await sleep(20);
      return difference({ ...(await cpuTimes()), ...(await counts()) }, before);
    },
    /** Does now what autovacuum and the checkpointer would do later. */
    async vacuum() {
      for (const text of ['vacuum analyze tasks, feeds, changes', 'checkpoint']) await client.query(text);
    },
    stop: transferOwnership(closers),
  };
}
