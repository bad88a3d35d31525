import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, attempt } from '../errors.ts';

/** Signals to send one after another, each with the time to wait for its effect. */
export type StopLadder = readonly (readonly [signal: NodeJS.Signals, waitMs: number])[];

const onLinux = process.platform === 'linux';

/** Whether a process with this id is running. A zombie, which ended but was not reaped by its parent, is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
  return !onLinux || !['Z', 'X', undefined].includes(statFields(pid)?.[0]);
}

/** Distinguishes a process from a later one with the same id. Undefined when there is no such process. */
export function processIdentity(pid: number): string | undefined {
  if (!isAlive(pid)) return undefined;
  if (onLinux) {
    const startTicks = statFields(pid)?.[19];
    return startTicks && `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${startTicks}`;
  }
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }; // otherwise the text depends on the user's language and time zone
  return attempt(() => execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', env }).trim());
}

/** The fields of /proc/<pid>/stat from the state on. They follow the command's name, which may contain spaces and brackets. */
function statFields(pid: number): string[] | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Processes named `name` whose working directory is `dir`. Linux only: empty on other systems. */
export function processesWorkingIn(dir: string, name: string): number[] {
  const path = attempt(() => realpathSync(dir));
  if (!onLinux || path === undefined) return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && worksIn(pid, path, name) && isAlive(pid));
}

function worksIn(pid: number, dir: string, name: string): boolean {
  const read = () => [readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), readlinkSync(`/proc/${pid}/cwd`)];
  const [command, cwd] = attempt(read) ?? [];
  return command === name && cwd === dir;
}

/** Ends processes that are not our children. Returns whether all of them have ended. */
export async function endProcesses(pids: number[], ladder: StopLadder): Promise<boolean> {
  for (const [signal, waitMs] of ladder) {
    for (const pid of pids) sendSignal(pid, signal);
    const deadline = performance.now() + waitMs;
    while (pids.some(isAlive) && performance.now() < deadline) await sleep(20);
    if (!pids.some(isAlive)) return true;
  }
  return false;
}

/** Sends a signal. Ignores that the process has already ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (errorCode(error) !== 'ESRCH') throw error;
  }
}
