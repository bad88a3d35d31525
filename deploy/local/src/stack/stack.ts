import { type RunningProcess } from '@taskmesh/local-servers';
import type { Supervised } from './supervise.ts';

export interface StackOptions {
  dataDir: string;
  /** Of the first gateway; the others follow it. Default: free ones. */
  port?: number;
  /** The first gateway's port for administrators. @default `port` + 10000 */
  adminPort?: number | undefined;
  /** Where the gateways listen. @default '127.0.0.1' */
  host?: string;
  /** Where every service listens for administrators. @default '127.0.0.1' */
  adminHost?: string;
  /** @default 1 */
  gateways?: number;
  /** For every service, besides what the stack says itself. May name servers to use instead of own ones. */
  env: Readonly<Record<string, string | undefined>>;
  /** For people: a line of progress. */
  log: (line: string) => void;
  /** Whether processes that die are started again. @default true */
  restart?: boolean;
  /** Where the services' folders lie. @default this repository's */
  servicesDir?: string | undefined;
  /** Gives the start up: what runs already is stopped. */
  signal?: AbortSignal;
}

/** A process of the stack in one of its lives. */
export interface StackLife extends RunningProcess {
  /** A URL, or Kafka's `host:port`; the same in all lives. */
  url: string;
  /** Where a service reports its state: `/livez`, `/readyz`, `/metrics`. */
  adminUrl?: string;
}

export type StackProcess = Supervised<StackLife>;
