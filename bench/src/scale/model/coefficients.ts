import type { Costs } from './work.ts';

/** What a run of `npm run bench -- scale` measured. */
export interface Coefficients {
  /** CPU-ms for one unit of each work in each part. */
  cpuMs: Costs;
  /** How long a round of the relay takes while there is something to do. */
  roundMs: number;
  /** Changes that one tasks process brings to Kafka in a second when many wait. */
  relayPerS: number;
  bytes: {
    /** What a gateway holds on to, after a garbage collection: without sockets, and for each. */
    gateway: number;
    socket: number;
    /** In PostgreSQL with its indexes: of a task, of a change in the log, of an owner's feed. */
    task: number;
    change: number;
    feed: number;
    /** Of PostgreSQL's write-ahead log for a write, its publishing included. */
    wal: number;
    /** Of a change in Kafka, one copy. */
    record: number;
  };
  /** Of the write-ahead log to the disk, for a write, its publishing included. */
  flushes: number;
  /** Commands at Redis. */
  redis: { login: number; gatewaySecond: number };
}

/** Prints each of them with its unit and where it comes from, besides those of CPU, whose unit and source is their work. */
export const OTHERS: readonly {
  name: string;
  unit: string;
  source: string;
  of: (coefficients: Coefficients) => number;
}[] = [
  { name: "a relay's round", unit: 'ms', source: 'single commits', of: ({ roundMs }) => roundMs },
  { name: 'a relay with a backlog', unit: 'changes/s', source: 'backlog', of: ({ relayPerS }) => relayPerS },
  { name: 'a gateway without sockets', unit: 'MiB', source: 'sockets', of: ({ bytes }) => bytes.gateway / 2 ** 20 },
  { name: 'a subscribed socket', unit: 'KiB', source: 'sockets', of: ({ bytes }) => bytes.socket / 1024 },
  { name: 'a task', unit: 'bytes in PostgreSQL', source: 'backlog', of: ({ bytes }) => bytes.task },
  { name: 'a change', unit: 'bytes in PostgreSQL', source: 'create, update', of: ({ bytes }) => bytes.change },
  { name: "an owner's feed", unit: 'bytes in PostgreSQL', source: 'backlog', of: ({ bytes }) => bytes.feed },
  { name: 'a write, published', unit: 'bytes of WAL', source: 'create, update', of: ({ bytes }) => bytes.wal },
  { name: 'a write, published', unit: 'flushes of WAL', source: 'create, update', of: ({ flushes }) => flushes },
  { name: 'a change', unit: 'bytes in Kafka', source: 'create, update', of: ({ bytes }) => bytes.record },
  { name: 'a login', unit: 'commands at Redis', source: 'login', of: ({ redis }) => redis.login },
  { name: 'a gateway', unit: 'commands at Redis/s', source: 'idle', of: ({ redis }) => redis.gatewaySecond },
];

/** From `bench/README.md`, the table of backups of 2026-11-21: rows of tasks in a second. */
export const BACKUP = { dumpRowsPerS: 174_232, restoreRowsPerS: 49_753 };
