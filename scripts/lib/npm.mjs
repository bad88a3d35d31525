import { spawn } from 'node:child_process';
import { Failure, Interrupted } from './failure.mjs';
import { passSignalsTo } from './signals.mjs';

const REMEDIES = [
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT/,
    "npm cannot reach its registry. Check the network (and npm's proxy settings), then try again.",
  ],
  [/ENOSPC/, 'The disk is full. Make room, then try again.'],
  [/EACCES|EPERM|EROFS/, 'npm may not write here. Make this folder writable for your user, then try again.'],
  [/E404|ETARGET|notarget/, 'The registry does not have this package.'],
];

/** What to do about what npm or the system says. */
export function remedyFor(complaints) {
  return REMEDIES.find(([pattern]) => pattern.test(complaints))?.[1];
}

const INSTALL = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'];

/** npm gave up by itself, and left nothing half done. */
export class NpmRefused extends Failure {}

/**
 * Has npm install quietly; what it complained about is shown when it fails, with a remedy where we know one. `onStart` gets
 * its process id. Any signal kills it: told politely, it would go on for minutes to undo what is done from scratch anyway.
 */
export async function npmInstall(args, { cwd, what, onStart }) {
  const cli = process.env.npm_execpath; // set when npm itself started us
  const [command, prefix] = cli?.endsWith('npm-cli.js') ? [process.execPath, [cli]] : ['npm', []];
  const shell = command === 'npm' && process.platform === 'win32';
  const stdio = ['ignore', 'ignore', 'pipe'];
  const detached = process.platform !== 'win32';
  const child = spawn(command, [...prefix, ...INSTALL, ...args], { cwd, shell, stdio, detached });
  if (child.pid) onStart(child.pid);
  const { lastHeard } = passSignalsTo(child, { as: 'SIGKILL' });
  let complaints = '';
  child.stderr.on('data', (chunk) => (complaints += chunk));
  const code = await new Promise((resolve, reject) => {
    child.once('error', () => reject(new NpmRefused('npm was not found. Install Node.js with npm, then try again.')));
    child.once('close', resolve);
  });
  if (lastHeard()) throw new Interrupted(what, lastHeard());
  if (code === 0) return;
  const lines = complaints
    .split('\n')
    .filter((line) => line.startsWith('npm error'))
    .slice(0, 12);
  const Refusal = code === null ? Failure : NpmRefused;
  throw new Refusal(
    [
      `${what} failed (${code === null ? 'npm was killed' : `npm ended with ${code}`}).`,
      ...lines.map((line) => `    ${line}`),
      remedyFor(complaints),
    ]
      .filter(Boolean)
      .join('\n'),
  );
}
