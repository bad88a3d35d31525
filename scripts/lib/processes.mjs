import { readFileSync } from 'node:fs';

/** A process by id and, on Linux, by when it began, as ids are given out again. Undefined when it has ended. */
export function nameOfProcess(pid) {
  if (!isThere(pid)) return undefined;
  const fields = statFields(pid);
  if (!fields) return String(pid); // no /proc on this system
  const isZombie = fields[0] === 'Z' || fields[0] === 'X';
  return isZombie ? undefined : `${pid} ${fields[19]}`;
}

/** Whether the process of this name still runs. */
export function isRunning(name) {
  return name !== undefined && nameOfProcess(Number.parseInt(name)) === name;
}

/** The fields of /proc/<pid>/stat after the command's name, which may itself hold blanks: state first, then the parent. */
export function statFields(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

function isThere(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
