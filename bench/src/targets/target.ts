import type { SourceAddresses } from '../feed/load/sources.ts';
import type { TargetName } from '../operations.ts';

/** Whose time it is: of the process that clients talk to, of our other processes, or of a store. */
export type Role = 'server' | 'inner' | 'postgres' | 'redis' | 'kafka';

/** A process, with its children, whose time is counted. */
export interface Part {
  name: string;
  role: Role;
  pid: number;
}

/** Something that answers the operations, or delivers changes, running. */
export interface Target {
  name: TargetName;
  url: string;
  parts: readonly Part[];
  postgresVersion: string;
  /** Where changes can begin. */
  sources: SourceAddresses;
  /** Resolves when what the requests left to do in the background is done. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

export interface TargetOptions {
  /** A directory of its own. */
  dataDir: string;
  env: Readonly<Record<string, string | undefined>>;
  log: (line: string) => void;
}

/** The first process of a role; without one, that which clients talk to. */
export function pidOf({ name, parts }: Target, wanted: Role = 'server'): number {
  const part = parts.find(({ role }) => role === wanted);
  if (!part) throw new Error(`${name} has no ${wanted}.`);
  return part.pid;
}
