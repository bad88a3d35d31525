import { globSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { ifThere, PlainError } from '../errors.ts';
import { writeJson } from '../files.ts';
import { startChild, untilReady, type ChildOptions, type ReadinessOptions } from './child-process.ts';
import { acquireLock } from './directory-lock.ts';
import { endProcesses, isAlive, processIdentity, sendSignal, type StopLadder } from './process-table.ts';

const PID_FILE_ENDING = '.pid.json';
const TERMINATION: StopLadder = [['SIGTERM', 10_000]];

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

/** A process is left that does not even end when it is killed. */
export class StillRunning extends PlainError {}

interface PidRecord {
  pid: number;
  /** See `processIdentity`. */
  identity: string;
  ladder: StopLadder;
}

export interface RunOptions<Answer> extends Omit<ReadinessOptions<Answer>, 'signal' | 'log'> {
  dataDir: string;
  /** @default SIGTERM, which has ten seconds */
  ladder?: StopLadder;
  /** What to run, once the directory is ours. */
  prepare: () => Promise<Omit<ChildOptions, 'logFile' | 'ladder'>>;
}

/**
 * Takes a data directory (a process that a killed parent left behind in it is ended first), runs its process and waits
 * until that does its work; what `ready` has answered comes along. The directory is given up when the process ends.
 * @throws PlainError, also when another instance uses the directory
 */
export async function runInDataDir<Answer>(
  { dataDir, ladder = TERMINATION, prepare, ...readiness }: RunOptions<Answer>,
  { log, signal }: { log: (line: string) => void; signal?: AbortSignal | undefined },
) {
  const { lockFile, pidFile, logFile } = filesBeside(dataDir);
  const lock = await acquireLock(lockFile, `${dataDir} is in use by another instance`, signal);
  try {
    await endNoted(pidFile, log);
    const child = await startChild({ ...(await prepare()), logFile, ladder });
    try {
      writeJson(pidFile, { pid: child.pid, identity: processIdentity(child.pid) ?? '', ladder } satisfies PidRecord);
    } catch (error) {
      await child.stop(); // no later start would find it
      throw error;
    }
    const exited = child.exited.then((exit) => {
      rmSync(pidFile, { force: true });
      lock.release();
      return exit;
    });
    const running = { ...child, exited };
    return { ...running, answer: await untilReady(running, { ...readiness, signal, log }) };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Ends every process that is noted under `dir`: after a kill of their parent, those that it did not live to stop. The
 * caller holds the directory's lock.
 * @throws StillRunning
 */
export async function endNotedProcesses(dir: string, log?: (line: string) => void): Promise<void> {
  await Promise.all(pidFilesUnder(dir).map((file) => endNoted(file, log)));
}

/** Kills every process that is noted under `dir`, and waits for nothing. */
export function killNotedProcesses(dir: string): void {
  for (const file of pidFilesUnder(dir)) {
    const noted = readLiving(file);
    if (noted) sendSignal(noted.pid, 'SIGKILL');
  }
}

function pidFilesUnder(dir: string): string[] {
  return globSync(`run/*${PID_FILE_ENDING}`, { cwd: dir }).map((file) => join(dir, file));
}

async function endNoted(pidFile: string, log?: (line: string) => void): Promise<void> {
  const noted = readLiving(pidFile);
  if (noted) {
    const { pid, ladder } = noted;
    const name = basename(pidFile, PID_FILE_ENDING);
    log?.(`Ending ${name} (process ${pid}), left over from an earlier run.`);
    const gone = await endProcesses([pid], [...ladder, ['SIGKILL', 5_000]]);
    if (!gone)
      throw new StillRunning(
        `Process ${pid} (${name}) does not end, not even when it is killed. End it, then start again.`,
      );
  }
  rmSync(pidFile, { force: true });
}

/** What `runInDataDir` has noted, if that process still runs: its id may belong to another one by now. */
function readLiving(pidFile: string): PidRecord | undefined {
  const record = ifThere(() => JSON.parse(readFileSync(pidFile, 'utf8')) as PidRecord);
  return record && record.identity === processIdentity(record.pid) ? record : undefined;
}

/** A directory of this process, with those of the servers and services that it starts below. */
export type RunDir = Awaited<ReturnType<typeof makeRunDir>>;

/** Makes one in `parent`. What runs that were killed have left there, processes and files, is removed. */
export async function makeRunDir(parent: string, prefix: string) {
  mkdirSync(parent, { recursive: true });
  for (const name of readdirSync(parent).filter((entry) => entry.startsWith(prefix))) {
    const left = join(parent, name);
    if (isAlive(Number(name.slice(prefix.length)))) continue;
    for (const dir of dataDirsIn(left)) await endNotedProcesses(dir);
    rmSync(left, { recursive: true, force: true });
  }
  const path = join(parent, `${prefix}${process.pid}`);
  mkdirSync(path);
  return {
    path,
    /** Kills what was started there, and waits for nothing. */
    killNow: () => dataDirsIn(path).forEach(killNotedProcesses),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Where processes are noted: of one server or stack, of several beside each other, or of stacks in these. */
function dataDirsIn(path: string): string[] {
  return globSync(['run', '*/run', '*/*/run', '*/*/*/run'], { cwd: path }).map((run) => join(path, dirname(run)));
}
