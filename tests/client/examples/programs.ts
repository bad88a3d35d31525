import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const EXAMPLES = join(ROOT, 'docs/examples');
const PYTHON = join(EXAMPLES, 'python');
/** The packages of channel.py, apart from the machine's own Python. */
const PACKAGES = join(ROOT, '.cache/examples-python');

export interface Example {
  name: string;
  /** The programs that this machine must have. */
  needs: string;
  isThere: boolean;
  /** Prepares the program, and returns the command that starts it. */
  command(): string[];
  env?: Record<string, string>;
  /** Returns the change that a printed line reports, if any. */
  changeIn(line: string): string | undefined;
  /** Whether it prints changes made while it was disconnected one by one; otherwise, it reads the list again. */
  resumes: boolean;
}

const changeIn = (line: string) => (/^(INSERT|UPDATE|DELETE) /.test(line) ? line : undefined);

const ofNode = (name: string, env: Record<string, string> = {}): Example => ({
  name: [`${name}.mjs`, ...Object.values(env)].join(' '),
  needs: 'Node',
  isThere: true,
  command: () => [process.execPath, join(EXAMPLES, `${name}.mjs`)],
  env,
  changeIn,
  resumes: true,
});

/** The Java example prints the results as JSON. */
function changeInJson(line: string): string | undefined {
  if (!line.startsWith('{"data":{"taskChanges"')) return undefined;
  const { data } = JSON.parse(line) as { data: { taskChanges: { kind: string; task: { title: string } } } };
  return `${data.taskChanges.kind} ${data.taskChanges.task.title}`;
}

/** Returns a Python with the packages of requirements.txt, which are installed once. */
function installedPython(): string {
  const python = join(PACKAGES, 'bin/python');
  if (!existsSync(python)) execFileSync('python3', ['-m', 'venv', PACKAGES]);
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--requirement', join(PYTHON, 'requirements.txt')]);
  return python;
}

export const EXAMPLE_PROGRAMS: Example[] = [
  ...['graphql-ws', 'sse', 'multipart', 'supabase'].map((name) => ofNode(`feeds/${name}`)),
  ...['apollo', 'urql', 'relay', 'tanstack-query'].map((name) => ofNode(`front-ends/${name}`)),
  ofNode('front-ends/apollo', { APOLLO_VERSION: '3' }),
  {
    name: 'python/live.py',
    needs: 'python3 (3.9 or later)',
    isThere: runs('python3', ['-c', 'import sys; assert sys.version_info >= (3, 9)']),
    command: () => ['python3', join(PYTHON, 'live.py')],
    changeIn,
    resumes: true,
  },
  {
    name: 'python/channel.py',
    needs: 'python3 (3.11 or later) with venv and pip',
    isThere: runs('python3', ['-c', 'import sys, venv, ensurepip; assert sys.version_info >= (3, 11)']),
    command: () => [installedPython(), join(PYTHON, 'channel.py')],
    changeIn,
    resumes: false,
  },
  {
    name: 'java/Live.java',
    needs: 'java (a JDK, 17 or later)',
    isThere: runs('javac', ['--release', '17', '--version']),
    command: () => ['java', join(EXAMPLES, 'java/Live.java')],
    changeIn: changeInJson,
    resumes: true,
  },
];

function runs(program: string, args: string[]): boolean {
  if (!(process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)))) return false;
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
