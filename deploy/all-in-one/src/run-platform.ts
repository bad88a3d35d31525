import { killRecordedProcesses, runCommand, printLine } from '@taskmesh/local';
import { trimMemory, tuneV8 } from '@taskmesh/service';
import { resolve } from 'node:path';
import { startEmbedded, type Embedded } from './start-embedded.ts';

/** Runs the platform as a command at a terminal. `report` returns the lines to print once it is running. */
export async function runPlatform(report: (platform: Embedded, seconds: string) => string): Promise<never> {
  tuneV8();
  return runCommand({
    async start(signal) {
      const begin = performance.now();
      const platform = await startEmbedded({ env: process.env, progress: printLine, signal });
      trimMemory();
      printLine(report(platform, ((performance.now() - begin) / 1000).toFixed(1)));
      return platform;
    },
    killNow: () => killRecordedProcesses(resolve(process.env.DATA_DIR || '.data')),
  });
}
