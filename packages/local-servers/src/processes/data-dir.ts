import { globSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { attempt, PlainError } from '../errors.ts';
import { writeJson } from '../files.ts';
import { startChild, untilReady, type ChildOptions, type ReadinessOptions } from './child-process.ts';
import { acquireLock } from './directory-lock.ts';
import { endProcesses, isAlive, processIdentity, sendSignal, type StopLadder } from './process-table.ts';

const PID_FILE_ENDING = '.pid.json';
const TERMINATION: StopLadder = [['SIGTERM', 10_000]];

/** The files that belong to a process with its data in `dataDir`. They are beside it, in folders shared by all processes. */
export function filesFor(dataDir: string) {
  const parent = dirname(dataDir);
  const name = basename(dataDir);
  return {
    logFile: join(parent, 'logs', `${name}.log`),
    lockFile: join(parent, 'run', `${name}.lock`),
    pidFile: join(parent, 'run', `${name}${PID_FILE_ENDING}`),
    passwordFile: join(parent, `${name}.password`),
  };
}

/** A leftover process that does not end even when it is killed. */
export class StillRunning extends PlainError {}

interface PidRecord {
  pid: number;
  /** See `processIdentity`. */
  identity: string;
  ladder: StopLadder;
}

export interface RunOptions<Ready> extends Omit<ReadinessOptions<Ready>, 'signal' | 'log'> {
  dataDir: string;
  /** @default SIGTERM, then SIGKILL after ten seconds */
  ladder?: StopLadder;
  /** Called with the directory locked; returns what to run. */
  prepare: () => Promise<Omit<ChildOptions, 'logFile' | 'ladder'>>;
}

/**
 * Locks a data directory, ends a process that a killed parent left behind in it, starts the new process and waits until it is
 * ready. The result includes what `ready` returned. The lock is released when the process ends.
 * @throws PlainError, also when another instance uses the directory
 */
export async function runInDataDir<Ready>(
  { dataDir, ladder = TERMINATION, prepare, ...readiness }: RunOptions<Ready>,
  { log, signal }: { log: (line: string) => void; signal?: AbortSignal | undefined },
) {
  const { lockFile, pidFile, logFile } = filesFor(dataDir);
  const lock = await acquireLock(lockFile, `${dataDir} is in use by another instance`, signal);
  try {
    await endRecorded(pidFile, log);
    const child = await startChild({ ...(await prepare()), logFile, ladder });
    try {
      writeJson(pidFile, { pid: child.pid, identity: processIdentity(child.pid) ?? '', ladder } satisfies PidRecord);
    } catch (error) {
      await child.stop(); // a later start would not find the process
      throw error;
    }
    const exited = child.exited.then((exit) => {
      attempt(() => rmSync(pidFile));
      lock.release();
      return exit;
    });
    const running = { ...child, exited };
    return { ...running, readyResult: await untilReady(running, { ...readiness, signal, log }) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Ends every process that is recorded under `dir`, such as those that a killed parent could not stop. The caller holds the
 * directory's lock.
 * @throws StillRunning
 */
export async function endRecordedProcesses(dir: string, log?: (line: string) => void): Promise<void> {
  await Promise.all(pidFilesUnder(dir).map((file) => endRecorded(file, log)));
}

/** Kills every process that is recorded under `dir`, without waiting. */
export function killRecordedProcesses(dir: string): void {
  for (const file of pidFilesUnder(dir)) {
    const recorded = readRunning(file);
    if (recorded) sendSignal(recorded.pid, 'SIGKILL');
  }
}

function pidFilesUnder(dir: string): string[] {
  return globSync(`run/*${PID_FILE_ENDING}`, { cwd: dir }).map((file) => join(dir, file));
}

async function endRecorded(pidFile: string, log?: (line: string) => void): Promise<void> {
  const recorded = readRunning(pidFile);
  if (recorded) {
    const { pid, ladder } = recorded;
    const name = basename(pidFile, PID_FILE_ENDING);
    log?.(`Ending ${name} (process ${pid}), left over from an earlier run.`);
    const hasEnded = await endProcesses([pid], [...ladder, ['SIGKILL', 5_000]]);
    if (!hasEnded)
      throw new StillRunning(
        `Process ${pid} (${name}) does not end, not even when it is killed. End it, then start again.`,
      );
  }
  rmSync(pidFile, { force: true });
}

/** The record that `runInDataDir` wrote. Undefined if its process has ended, even if another process has the id by now. */
function readRunning(pidFile: string): PidRecord | undefined {
  const record = attempt(() => JSON.parse(readFileSync(pidFile, 'utf8')) as PidRecord);
  return record && record.identity === processIdentity(record.pid) ? record : undefined;
}

/** A directory of this process, which contains the directories of the servers and services that it starts. */
export type RunDir = Awaited<ReturnType<typeof makeRunDir>>;

/** Creates a run directory in `parent`. Removes the processes and files that killed runs have left there. */
export async function makeRunDir(parent: string, prefix: string) {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const leftover = join(parent, name);
    if (isAlive(Number(name.slice(prefix.length)))) continue;
    for (const dir of dataDirsIn(leftover)) await endRecordedProcesses(dir);
    rmSync(leftover, { recursive: true, force: true });
  }
  const path = join(parent, `${prefix}${process.pid}`);
  mkdirSync(path);
  return {
    path,
    /** Kills all processes that were started there, without waiting. */
    killNow: () => dataDirsIn(path).forEach(killRecordedProcesses),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** The directories with records of processes: of one server or stack, of several side by side, or of stacks nested in them. */
function dataDirsIn(path: string): string[] {
  return globSync(['run', '*/run', '*/*/run', '*/*/*/run'], { cwd: path }).map((run) => join(path, dirname(run)));
}
