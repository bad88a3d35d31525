import type { TargetName } from '../operations.ts';

export type Role = 'server' | 'postgres' | 'redis' | 'kafka';

/** A process, with its children, whose time is counted. */
export interface Part {
  name: string;
  role: Role;
  pid: number;
}

/** Something that answers the operations, running. */
export interface Target {
  name: TargetName;
  url: string;
  parts: readonly Part[];
  postgresVersion: string;
  /** Where its stores are; absent when they are of no interest. */
  servers?: { postgres: string; kafka?: string };
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
