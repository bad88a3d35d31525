import { type RunningProcess } from '@taskmesh/local-servers';
import type { Supervised } from './supervise.ts';

export interface StackOptions {
  dataDir: string;
  /** The first gateway's port; the others get the next ones. @default free ones */
  port?: number;
  /** The first gateway's port for administrators. @default `port` + 10000 */
  adminPort?: number | undefined;
  /** The address on which the gateways listen. @default '127.0.0.1' */
  host?: string;
  /** The address on which every service listens for administrators. @default '127.0.0.1' */
  adminHost?: string;
  /** @default 1 */
  gateways?: number;
  /** Settings for every service, in addition to the stack's own. May name servers to use instead of new ones. */
  env: Readonly<Record<string, string | undefined>>;
  /** Called with a line of progress for people. */
  log: (line: string) => void;
  /** Whether to restart processes that die. @default true */
  restart?: boolean;
  /** The folder of the services. @default this repository's */
  servicesDir?: string | undefined;
  /** Aborts the start, and stops everything that was started. */
  signal?: AbortSignal;
}

/** One life of a process of the stack, from its start to its end. */
export interface StackLife extends RunningProcess {
  /** A URL, or Kafka's `host:port`; the same in all lives. */
  url: string;
  /** The URL at which a service reports its state: `/livez`, `/readyz`, `/metrics`. */
  adminUrl?: string;
}

export type StackProcess = Supervised<StackLife>;
