import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { StackProcess } from './stack.ts';

/** What `stack.json` in the data directory tells tools, at every moment of a running stack. */
export interface StackState {
  /** The process that watches over the others. */
  pid: number;
  processes: { name: string; pid: number; isUp: boolean; url: string; adminUrl?: string; logFile: string }[];
}

/** Keeps the file true: call `write` after every change. Readers never see half of it. */
export function createStateFile(file: string, processes: ReadonlyMap<string, StackProcess>) {
  return {
    write(): void {
      const state: StackState = {
        pid: process.pid,
        processes: [...processes.values()].map(({ name, pid, isUp, current: { url, adminUrl, logFile } }) => ({
          ...{ name, pid, isUp, url, logFile },
          ...(adminUrl ? { adminUrl } : {}),
        })),
      };
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(`${file}.new`, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 }); // addresses have passwords
      renameSync(`${file}.new`, file);
    },
    remove: () => rmSync(file, { force: true }),
  };
}
