import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PlainError } from '../plain-error.ts';
import { startChild, type ChildOptions, type Exit, type RunningProcess } from './child-process.ts';
import { acquireLock } from './directory-lock.ts';
import { endProcesses, processIdentity, type StopLadder } from './process-table.ts';

/** Where the files lie that belong to a process with its data in `dataDir`: beside it, in folders that all share. */
export function filesBeside(dataDir: string) {
  const parent = dirname(dataDir);
  const name = basename(dataDir);
  return {
    logFile: join(parent, 'logs', `${name}.log`),
    lockFile: join(parent, 'run', `${name}.lock`),
    pidFile: join(parent, 'run', `${name}.pid.json`),
    passwordFile: join(parent, `${name}.password`),
  };
}

interface PidRecord {
  pid: number;
  /** See `processIdentity`. */
  identity: string;
  ladder: StopLadder;
}

/** A data directory that is ours alone, with no process left in it from an earlier run. */
export interface Claim {
  /** Starts the directory's process and gives the directory up when it ends. */
  start(options: Omit<ChildOptions, 'logFile' | 'ladder'>): Promise<RunningProcess>;
  release(): void;
}

/**
 * Takes a data directory: nobody else has it, and a process that a killed parent left behind in it is ended first.
 * @throws PlainError when another instance uses it
 */
export async function claimDataDir(options: {
  dataDir: string;
  ladder: StopLadder;
  log: (line: string) => void;
}): Promise<Claim> {
  const { dataDir, ladder, log } = options;
  const { lockFile, pidFile, logFile } = filesBeside(dataDir);
  const lock = await acquireLock(lockFile, `${dataDir} is in use by another instance`);
  try {
    await endOrphan(pidFile, log);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    release: () => lock.release(),
    async start(childOptions) {
      const child = await startChild({ ...childOptions, logFile, ladder });
      writePidFile(pidFile, { pid: child.pid, identity: processIdentity(child.pid) ?? '', ladder });
      const exited = child.exited.then((exit: Exit) => {
        rmSync(pidFile, { force: true });
        lock.release();
        return exit;
      });
      return { ...child, exited };
    },
  };
}

function writePidFile(file: string, record: PidRecord): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.new`, JSON.stringify(record));
  renameSync(`${file}.new`, file); // whole or not at all, whenever we are killed
}

/** Ends every process that an earlier run noted under `dir` and did not live to stop. The caller holds that run's lock. */
export async function endOrphans(dir: string, log: (line: string) => void): Promise<void> {
  const runDir = join(dir, 'run');
  mkdirSync(runDir, { recursive: true });
  const files = readdirSync(runDir).filter((file) => file.endsWith('.pid.json'));
  await Promise.all(files.map((file) => endOrphan(join(runDir, file), log)));
}

async function endOrphan(pidFile: string, log: (line: string) => void): Promise<void> {
  const record = readPidFile(pidFile);
  if (record && record.identity === processIdentity(record.pid)) {
    log(`Ending ${basename(pidFile, '.pid.json')} (process ${record.pid}), left over from an earlier run.`);
    const gone = await endProcesses([record.pid], [...record.ladder, ['SIGKILL', 5_000]]);
    if (!gone) throw new PlainError(`Process ${record.pid} from an earlier run does not end. End it, then start again.`);
  }
  rmSync(pidFile, { force: true });
}

function readPidFile(file: string): PidRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as PidRecord; // written by `writePidFile` only
  } catch {
    return undefined; // absent
  }
}
