import { execFileSync } from 'node:child_process';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { sumOf } from '../run/figures.ts';

const TICK_MS = 1_000 / Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
const SAMPLE_EVERY_MS = 100;

/**
 * Returns the CPU time in milliseconds of each of these processes and all its descendants since their start. Read it twice
 * and subtract: the time of a child that ends in between is added to its parent. Precise to the nanosecond for threads.
 */
export function cpuMsOf(pids: readonly number[]): number[] {
  const processes = readProcesses();
  return pids.map((pid) => {
    const tree = [pid, ...descendantsOf(pid, processes)];
    return sumOf(tree.map((each) => runningMs(each, processes.get(each)) + (processes.get(each)?.endedMs ?? 0)));
  });
}

/** Begins to watch the machine; the returned function returns the share of its cores used by processes outside of this tree. */
export function othersShareSince(pid: number): () => number {
  const sample = () => {
    const [, user = 0, nice = 0, system = 0] = (/^cpu .*/.exec(readFileSync('/proc/stat', 'utf8'))?.[0] ?? '')
      .split(/ +/)
      .map(Number);
    return { at: performance.now(), othersMs: (user + nice + system) * TICK_MS - sumOf(cpuMsOf([pid])) };
  };
  const before = sample();
  return () => {
    const now = sample();
    return Math.max(0, (now.othersMs - before.othersMs) / ((now.at - before.at) * cpus().length));
  };
}

/** Returns the memory of a process in MiB: its private memory, or its peak. */
export function mibOf(pid: number, what: 'RssAnon' | 'VmHWM'): number {
  const [, kib = 0] = new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readIfExists(`/proc/${pid}/status`)) ?? [];
  return Number(kib) / 1024;
}

/** Watches memory until the returned function is called, which returns the process's growth and the peak of all its descendants. */
export function watchMemory(pid: number): () => { own: number; children: number } {
  const idle = mibOf(pid, 'RssAnon');
  const peak = { own: 0, children: 0 };
  const sample = () => {
    const children = descendantsOf(pid, readProcesses()).map((each) => mibOf(each, 'RssAnon'));
    peak.own = Math.max(peak.own, mibOf(pid, 'RssAnon') - idle);
    peak.children = Math.max(peak.children, sumOf(children));
  };
  const timer = setInterval(sample, SAMPLE_EVERY_MS);
  return () => {
    clearInterval(timer);
    return peak;
  };
}

interface Process {
  parent: number;
  /** User and system time of the process itself; `endedMs` is that of its children that have ended. */
  ownMs: number;
  endedMs: number;
}

function readProcesses(): Map<number, Process> {
  const processes = new Map<number, Process>();
  for (const pid of readdirSync('/proc').map(Number).filter(Boolean)) {
    const stat = readIfExists(`/proc/${pid}/stat`);
    // The command in brackets may contain blanks and brackets. After it: state, parent, …
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const ms = (from: number) => sumOf(fields.slice(from, from + 2)) * TICK_MS;
    if (stat) processes.set(pid, { parent, ownMs: ms(11), endedMs: ms(13) });
  }
  return processes;
}

function descendantsOf(pid: number, processes: ReadonlyMap<number, Process>): number[] {
  const children = [...processes].filter(([, { parent }]) => parent === pid).map(([child]) => child);
  return children.flatMap((child) => [child, ...descendantsOf(child, processes)]);
}

/** Live threads have their time in nanoseconds; the process has it only in ticks, but including threads that have ended. */
function runningMs(pid: number, process?: Process): number {
  const threads = globSync(`/proc/${pid}/task/*/schedstat`).map((file) => Number(readIfExists(file).split(' ', 1)[0]));
  return Math.max(sumOf(threads) / 1e6, process?.ownMs ?? 0);
}

function readIfExists(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // the process has ended
  }
}
