import { execFile } from 'node:child_process';
import { accessSync, constants, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { errorCode, indent, PlainError } from './errors.ts';

const execute = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** Returns the path of the first program found in the search path. */
export function findProgram(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).concat('/usr/sbin', '/sbin');
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find((path) => isAccessible(path, constants.X_OK));
}

/** Whether a file or folder exists and permits this access: `constants.X_OK`, `constants.W_OK`. */
export function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/**
 * Runs a program to its end and returns its output.
 * @throws PlainError with the last lines of its output
 */
export async function runProgram(
  command: string,
  args: string[],
  { timeoutMs: timeout = 15 * 60_000, ...rest }: { env?: typeof process.env; cwd?: string; timeoutMs?: number } = {},
): Promise<string> {
  try {
    const { stdout, stderr } = await execute(command, args, { ...rest, timeout, maxBuffer: MAX_OUTPUT_BYTES });
    return stdout + stderr;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string }; // properties of execFile's errors
    const output = (stdout + stderr).trim().split('\n').slice(-15).join('\n');
    throw new PlainError(`"${[command, ...args].join(' ')}" failed.${output && `\n${indent(output)}`}`, { cause });
  }
}

/** Access to the programs of a machine, which packages can extend. */
export type Machine = typeof MACHINE;
export const MACHINE = {
  find: findProgram,
  /** Whether Debian packages can be installed: apt exists and we are root. */
  canInstall: () => process.getuid?.() === 0 && findProgram('apt-get') !== undefined,
  install: installPackages,
};

/**
 * Returns the path of a program with one of these names. If there is none, installs it from Debian's package (as root).
 * @throws PlainError naming the remedy when neither is possible
 */
export async function provideProgram(
  names: string[],
  options: { package: string; log: (line: string) => void; remedy: string },
  { find, canInstall, install } = MACHINE,
): Promise<string> {
  const found = find(...names);
  if (found) return found;
  if (canInstall()) await install([options.package], options.log);
  const installed = find(...names);
  if (!installed) throw new PlainError(options.remedy);
  return installed;
}

let installation: Promise<unknown> = Promise.resolve();

/** Installs Debian packages, one call at a time. Their services are not started. */
function installPackages(packages: string[], log: (line: string) => void): Promise<void> {
  const mine = installation.then(async () => {
    log(`Installing ${packages.join(' and ')} with apt-get (once) …`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
    const apt = (...args: string[]) => runProgram('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', ...args], { env });
    await apt('update');
    await withoutServices(() => apt('install', '-y', '--no-install-recommends', ...packages));
  });
  installation = mine.catch(() => undefined);
  return mine;
}

const POLICY_FILE = '/usr/sbin/policy-rc.d';

/** Debian runs this script to decide whether a package may start its service. Ours refuses only while this process lives. */
async function withoutServices<Result>(action: () => Promise<Result>): Promise<Result> {
  const script = `#!/bin/sh\nkill -0 ${process.pid} 2>/dev/null && exit 101\nexit 0\n`;
  try {
    writeFileSync(POLICY_FILE, script, { mode: 0o755, flag: 'wx' });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return action(); // this machine has a policy of its own
    throw error;
  }
  try {
    return await action();
  } finally {
    rmSync(POLICY_FILE, { force: true });
  }
}
