import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, exitCodeOf, Failure, ROOT } from './command.mjs';

/** npm's list of installed packages, which it writes last: an interrupted installation has none. */
const LIST = join(ROOT, 'node_modules', '.package-lock.json');
/** Contains the process id of npm, or of the command that is about to start it. */
const LOCK = join(CACHE, 'install.lock');
// Installs exactly the lock file, regardless of npm's settings. `npm ci` refuses a lock file without the optional packages
// of other systems.
const INSTALL = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];
const AS_LOCKED = ['--package-lock', '--no-legacy-peer-deps', '--include=peer', '--include=optional'];

const REMEDIES = [
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/,
    "npm cannot reach its registry. Check the network (and npm's proxy settings), then try again.",
  ],
  [/ENOSPC/, 'The disk is full. Make room, then try again.'],
  [/EACCES|EPERM|EROFS/, 'npm may not write here. Make this folder writable for your user, then try again.'],
  [/E404|ETARGET|notarget/, 'The registry does not have this package.'],
];

/**
 * Installs missing dependencies: `production` for running, `all` for developing. Never reduces a full installation, which
 * serves both.
 */
export async function ensureInstalled(need) {
  if (missing(need) === undefined) return;
  const begin = performance.now();
  const list = readList();
  const set = need === 'all' || locked().some(([path, { dev }]) => dev && list?.packages[path]) ? 'all' : 'production';
  console.log('Installing dependencies (once) …');
  await npmInstall([...AS_LOCKED, set === 'all' ? '--include=dev' : '--omit=dev'], 'Installing dependencies', () => {
    // A running product stays intact while tools are added, however npm ends.
    if (missing('production') === undefined) return removeUnlisted();
    if (!list) for (const folder of folders()) rmSync(folder, { recursive: true, force: true });
    rmSync(LIST, { force: true });
    return () => list && writeFileSync(LIST, JSON.stringify(list));
  });
  const path = missing(set);
  if (path) throw new Failure(`npm says that it has installed everything, but ${path} is missing. Start again.`);
  console.log(`Dependencies are installed (${Math.round((performance.now() - begin) / 1000)} s).`);
}

/** Builds the page at `/` unless there is a build of these sources. */
export async function ensureConsole() {
  // Imported here, because its dependencies may have just been installed.
  const { provideConsole } = await import('../../services/gateway/console/build/provide.mjs');
  await provideConsole();
}

/** Returns a needed package that is not installed in the lock file's version; undefined if there is none. */
function missing(need) {
  const installed = readList()?.packages;
  if (!installed) return 'node_modules';
  const isInstalled = ([path, { version }]) =>
    installed[path]?.version === version && path in installed && existsSync(join(ROOT, path, 'package.json'));
  const isNeeded = ([, { dev, optional, devOptional, ...of }]) =>
    !devOptional && !(dev && (optional || need === 'production')) && (!optional || isOfThisMachine(of));
  return locked().find((entry) => isNeeded(entry) && !isInstalled(entry))?.[0];
}

/** Whether an optional package is the variant for this machine. npm leaves it out, without a failure, if its download fails. */
function isOfThisMachine({ os, cpu, libc }) {
  if (!os?.includes(process.platform) || !cpu?.includes(process.arch)) return false;
  return !libc || libc.includes(process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl');
}

/** Lists the packages in the lock file, with their paths. */
function locked() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  return Object.entries(packages).filter(([path]) => path.includes('node_modules/'));
}

/** What an interrupted npm has left may be incomplete. */
function removeUnlisted() {
  const { packages } = readList();
  for (const [path, { version }] of locked())
    if (packages[path]?.version !== version) rmSync(join(ROOT, path), { recursive: true, force: true });
}

const folders = () =>
  new Set(locked().map(([path]) => join(ROOT, path.slice(0, path.indexOf('node_modules')), 'node_modules')));

function readList() {
  try {
    return JSON.parse(readFileSync(LIST, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Runs `prepare`, then npm, quietly; if npm fails, shows its errors, with a remedy if we know one. `prepare` returns a function to
 * call if npm gave up by itself, which leaves everything as it was. Only one installation runs at a time in this folder. A signal
 * kills npm, because a graceful end takes minutes to roll back an installation that will be repeated anyway.
 */
export async function npmInstall(args, what, prepare = () => undefined) {
  acquireLock(what);
  try {
    const undo = prepare();
    const { code, errorOutput, signal } = await runNpm([...INSTALL, ...args]);
    if (signal) throw new Failure(`${what} was interrupted.`, exitCodeOf(signal));
    if (code === 0) return;
    if (code !== null) undo?.();
    const lines = errorOutput.split('\n').filter((line) => line.startsWith('npm error'));
    const why = code === null ? 'npm was killed' : `npm ended with ${code}`;
    throw failure(`${what} failed (${why}).`, lines, errorOutput);
  } finally {
    rmSync(LOCK, { force: true });
  }
}

function failure(what, lines, errorOutput) {
  const remedy = REMEDIES.find(([pattern]) => pattern.test(errorOutput))?.[1];
  const text = [what, ...lines.slice(0, 12).map((line) => `    ${line}`), remedy];
  return new Failure(text.filter(Boolean).join('\n'));
}

const NEW_LOCK_MS = 2_000;

function acquireLock(what) {
  try {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST' || !existsSync(LOCK))
      throw failure(`${what} failed.`, [String(error.message)], error.code);
    const holder = Number(readFileSync(LOCK, 'utf8'));
    // A new lock is empty for a moment, until its content is written.
    const isNew = !holder && Date.now() - statSync(LOCK).mtimeMs < NEW_LOCK_MS;
    if (isNew || (Number.isInteger(holder) && holder > 0 && isRunning(holder)))
      throw new Failure(
        `Another command is installing dependencies here (process ${holder}). Start again when it has finished, or remove ${LOCK} if that is another program.`,
      );
    rmSync(LOCK, { force: true });
    acquireLock(what);
  }
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function runNpm(args) {
  const cli = process.env.npm_execpath; // set when npm itself started us
  const [command, prefix] = cli?.endsWith('npm-cli.js') ? [process.execPath, [cli]] : ['npm', []];
  const isWindows = process.platform === 'win32';
  const options = { cwd: ROOT, shell: command === 'npm' && isWindows, stdio: ['ignore', 'ignore', 'pipe'] };
  const child = spawn(command, [...prefix, ...args], { ...options, detached: !isWindows });
  if (child.pid) writeFileSync(LOCK, String(child.pid)); // npm outlives us if we are killed
  let [errorOutput, signal] = ['', undefined];
  const kill = (received) => void ((signal = received), child.kill('SIGKILL'));
  for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(each, kill);
  child.stderr.on('data', (chunk) => (errorOutput += chunk));
  const code = await new Promise((resolve, reject) => {
    child.once('error', () => reject(new Failure('npm was not found. Install Node.js with npm, then try again.')));
    child.once('close', resolve);
  });
  for (const each of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(each, kill);
  return { code, errorOutput, signal };
}
