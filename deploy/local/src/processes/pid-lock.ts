import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ifThere, PlainError } from '../plain-error.ts';
import {
  startChild,
  untilReady,
  type ChildOptions,
  type ReadinessOptions,
  type RunningProcess,
} from './child-process.ts';
import { acquireLock } from './directory-lock.ts';
import { writeWhole } from '../write-whole.ts';
import { endProcesses, processIdentity, sendSignal, type StopLadder } from './process-table.ts';

const PID_FILE_ENDING = '.pid.json';

/** Where the files lie that belong to a process with its data in `dataDir`: beside it, in folders that all share. */
export function filesBeside(dataDir: string) {
  const parent = dirname(dataDir);
  const name = basename(dataDir);
  return {
    logFile: join(parent, 'logs', `${name}.log`),
    lockFile: join(parent, 'run', `${name}.lock`),
    pidFile: join(parent, 'run', `${name}${PID_FILE_ENDING}`),
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
export interface DataDirLock {
  /** Starts the directory's process and gives the directory up when it ends. */
  start(options: Omit<ChildOptions, 'logFile' | 'ladder'>): Promise<RunningProcess>;
  release(): void;
}

/**
 * Takes a data directory: nobody else has it, and a process that a killed parent left behind in it is ended first.
 * @throws PlainError when another instance uses it
 */
export async function lockDataDir(options: {
  dataDir: string;
  ladder: StopLadder;
  log: (line: string) => void;
}): Promise<DataDirLock> {
  const { dataDir, ladder, log } = options;
  const { lockFile, pidFile, logFile } = filesBeside(dataDir);
  const lock = await acquireLock(lockFile, `${dataDir} is in use by another instance`);
  try {
    await endNoted(pidFile, tellOfLeftovers(log));
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    release: () => lock.release(),
    async start(childOptions) {
      const child = await startChild({ ...childOptions, logFile, ladder });
      writeWhole(pidFile, { pid: child.pid, identity: processIdentity(child.pid) ?? '', ladder } satisfies PidRecord);
      const exited = child.exited.then((exit) => {
        rmSync(pidFile, { force: true });
        lock.release();
        return exit;
      });
      return { ...child, exited };
    },
  };
}

export interface RunOptions<Told> extends Omit<ReadinessOptions<Told>, 'signal'> {
  dataDir: string;
  ladder: StopLadder;
  /** What to run, once the directory is ours. */
  prepare: () => Promise<Omit<ChildOptions, 'logFile' | 'ladder'>>;
}

/**
 * Takes a data directory, runs its process and waits until that does its work; what `ready` has told comes along.
 * @throws PlainError
 */
export async function runInDataDir<Told>(
  { prepare, ...options }: RunOptions<Told>,
  { log, signal }: { log: (line: string) => void; signal?: AbortSignal | undefined },
): Promise<RunningProcess & { told: Told }> {
  const lock = await lockDataDir({ ...options, log });
  try {
    const child = await lock.start(await prepare());
    return { ...child, told: await untilReady(child, { ...options, signal }) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Told of a process that is noted under a data directory and runs. */
type TellOf = (process: { name: string; pid: number }) => void;

export function tellOfLeftovers(log: (line: string) => void): TellOf {
  return ({ name, pid }) => log(`Ending ${name} (process ${pid}), left over from an earlier run.`);
}

/**
 * Ends every process that is noted under `dir`: after a kill of their parent, those that it did not live to stop. The
 * caller holds the directory's lock.
 * @throws PlainError when one does not end
 */
export async function endNotedProcesses(dir: string, onEach: TellOf = () => undefined): Promise<void> {
  await Promise.all(pidFilesUnder(dir).map((file) => endNoted(file, onEach)));
}

/** Kills every process that is noted under `dir`, and waits for nothing. */
export function killNotedProcesses(dir: string): void {
  for (const file of pidFilesUnder(dir)) {
    const record = readPidFile(file);
    if (record && isRunning(record)) sendSignal(record.pid, 'SIGKILL');
  }
}

function pidFilesUnder(dir: string): string[] {
  const runDir = join(dir, 'run');
  if (!existsSync(runDir)) return [];
  return readdirSync(runDir)
    .filter((file) => file.endsWith(PID_FILE_ENDING))
    .map((file) => join(runDir, file));
}

async function endNoted(pidFile: string, onEach: TellOf): Promise<void> {
  const record = readPidFile(pidFile);
  if (record && isRunning(record)) {
    const { pid, ladder } = record;
    onEach({ name: basename(pidFile, PID_FILE_ENDING), pid });
    const gone = await endProcesses([pid], [...ladder, ['SIGKILL', 5_000]]);
    if (!gone) throw new PlainError(`Process ${pid} from an earlier run does not end. End it, then start again.`);
  }
  rmSync(pidFile, { force: true });
}

/** Not when the id belongs to another process by now. */
function isRunning({ pid, identity }: PidRecord): boolean {
  return identity === processIdentity(pid);
}

/** Written by a lock's `start` only. */
const readPidFile = (file: string) => ifThere(() => JSON.parse(readFileSync(file, 'utf8')) as PidRecord);
