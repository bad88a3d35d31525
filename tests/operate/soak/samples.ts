import { query } from '@taskmesh/testing';
import { databaseUrl, type Stack } from '@taskmesh/local';
import { setTimeout as sleep } from 'node:timers/promises';

/** An option of Node that makes a process collect its garbage on SIGUSR2. */
export const COLLECT_ON_SIGNAL = `--import=${new URL('./collect-on-signal.ts', import.meta.url).href}`;
/** The time that a signal needs to arrive and the collection to finish. */
const COLLECTION_MS = 500;

/** The samples of each figure, by name and in order. */
export type Series = Map<string, number[]>;

/** Figures of a process that must not grow without bounds, from prom-client's default metrics. */
const PROCESS_METRICS: Record<string, RegExp> = {
  descriptors: /^process_open_fds(?:\{.*\})? (.+)$/m,
  heap: /^nodejs_heap_size_used_bytes(?:\{.*\})? (.+)$/m,
  external: /^nodejs_external_memory_bytes(?:\{.*\})? (.+)$/m,
  resident: /^process_resident_memory_bytes(?:\{.*\})? (.+)$/m,
  timers: /^nodejs_active_resources\{.*type="Timeout".*\} (.+)$/m,
};

/** Adds a sample of every process, taken after a garbage collection, and of every table to the series. */
export async function sample(stack: Stack, databases: readonly string[], series: Series): Promise<void> {
  const services = [...stack.processes.values()].filter(({ current }) => current.adminUrl);
  for (const { current } of services) process.kill(current.pid, 'SIGUSR2');
  await sleep(COLLECTION_MS);
  const figures = await Promise.all([
    ...services.map(({ name, current }) => processFigures(name, current.adminUrl ?? '')),
    ...databases.map((database) => rowCounts(stack.servers.postgres, database)),
  ]);
  for (const [name, value] of figures.flat()) series.set(name, [...(series.get(name) ?? []), value]);
}

async function processFigures(name: string, adminUrl: string): Promise<[string, number][]> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  return Object.entries(PROCESS_METRICS).map(([what, pattern]) => {
    // prom-client does not list kinds of resources without an instance.
    const value = pattern.exec(text)?.[1] ?? (what === 'timers' ? '0' : undefined);
    if (value === undefined) throw new Error(`${name} does not tell its ${what}.`);
    return [`${name} ${what}`, Number(value)];
  });
}

async function rowCounts(server: string, database: string): Promise<[string, number][]> {
  const rows = await query<{ name: string; count: string }>(
    databaseUrl(server, database),
    `select table_name as name,
       (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from public.%I', table_name), false, true, '')))[1]::text as count
     from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  return rows.map(({ name, count }) => [`rows ${database}.${name}`, Number(count)]);
}
