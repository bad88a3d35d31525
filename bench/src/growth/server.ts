import { Closers } from '@taskmesh/service';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { childrenOf, cpuMsOfThreads } from '../cpu/one-process.ts';
import { combine, sumOf } from '../figures.ts';
import { startEmbeddedTarget } from '../targets/embedded.ts';
import { pidOf, type TargetOptions } from '../targets/target.ts';

export type GrowthServer = Awaited<ReturnType<typeof startGrowthServer>>;

export interface Taken {
  /** Milliseconds of CPU. */
  server: number;
  postgres: number;
  /** Pages of tables and indexes that were looked at, in memory or not. */
  pages: number;
  walBytes: number;
}

const COUNTERS = `
  select (pg_current_wal_insert_lsn() - '0/0')::float8 as "walBytes",
    sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0))::float8 as pages
  from pg_statio_user_tables where relname in ('tasks', 'feeds')`;

/** A session tells what it has counted when a statement ends a second or more after it told the last time. */
const TOLD_AFTER_MS = 1_100;
const TOLD_MS = 50;

/** The embedded platform, with a PostgreSQL that is looked at. */
export async function startGrowthServer(options: TargetOptions) {
  await using closers = new Closers();
  const target = closers.use(await startEmbeddedTarget(options));
  const { url, postgresVersion: version, sources } = target;
  const [pid, postgresPid] = [pidOf(target, 'server'), pidOf(target, 'postgres')];
  const { tasksDatabase: tasksUrl = '' } = sources;
  const watcher = new Client({ connectionString: tasksUrl });
  await watcher.connect();
  closers.add(() => watcher.end());

  let pagesTold = 0;
  const look = async (): Promise<Taken> => {
    const [counters] = (await watcher.query<Pick<Taken, 'pages' | 'walBytes'>>(COUNTERS)).rows;
    if (!counters) throw new Error('The store has no counters.');
    return { server: cpuMsOfThreads(pid), postgres: cpuMsOfFamily(postgresPid), ...counters };
  };
  return {
    ...{ url, pid, tasksUrl, version },
    /**
     * What some work takes, until its changes are published. `inEachSession` is done behind it, so that all pages are
     * told. The pages are those of all that was done since the last call.
     */
    async take(work: () => Promise<void>, inEachSession: () => Promise<unknown>): Promise<Taken> {
      const before = await look();
      await work();
      await target.settle();
      const taken = combine([await look(), before], ([after = 0, earlier = 0]) => after - earlier);
      await sleep(TOLD_AFTER_MS);
      await inEachSession();
      await sleep(TOLD_MS);
      const { pages } = await look();
      const sinceLast = pages - pagesTold;
      pagesTold = pages;
      return { ...taken, pages: sinceLast };
    },
    stop: closers.handOver(),
  };
}

/** Of a process and its children, of which none may end meanwhile. */
const cpuMsOfFamily = (pid: number) => sumOf([pid, ...childrenOf(pid)].map(cpuMsOfThreads));
