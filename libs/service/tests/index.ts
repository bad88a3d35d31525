import { ConfigError } from '../src/config.ts';
import { createLog, type Log } from '../src/log.ts';

export interface LogLine {
  level: string;
  msg: string;
  [field: string]: unknown;
}

/** A log whose lines a test can read. */
export function createRecordingLog(level = 'info'): { log: Log; lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as LogLine);
  return { log: createLog({ service: 'test', level, destination: { write } }), lines };
}

/** Returns the problems for which `read` rejects a configuration. */
export function problemsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
