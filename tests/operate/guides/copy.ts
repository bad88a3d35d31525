import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { changed, type Step } from './steps.ts';

const ROOT = join(import.meta.dirname, '../../..');
const OURS = '@taskmesh';
const OUTPUT_BYTES = 16 * 1024 * 1024;

export interface Copy {
  root: string;
  /** Applies the steps. */
  follow(steps: readonly Step[]): void;
  /** Runs Node in the copy. @throws Error with its output if it fails */
  node(...args: string[]): Promise<void>;
  remove(): void;
}

/** Copies the repository's files, and links the packages that are installed here. */
export function copyRepository(): Copy {
  const root = mkdtempSync(join(tmpdir(), 'taskmesh-guide-'));
  const list = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of list.split('\0'))
    if (file && existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(root, file), { recursive: true });
  const inner = projectsIn(ROOT).map((folder) => join(folder, 'node_modules'));
  const fetched = readdirSync(join(ROOT, '.cache')).filter((name) => /^(node|helm|kafka)/.test(name));
  for (const folder of [...fetched.map((name) => join('.cache', name)), ...inner])
    link(join(ROOT, folder), join(root, folder));
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== OURS) link(join(ROOT, 'node_modules', name), join(root, 'node_modules', name));
  linkProjects(root);

  return {
    root,
    follow(steps) {
      for (const step of steps) {
        const file = join(root, step.file);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, 'text' in step ? step.text : changed(readFileSync(file, 'utf8'), step));
      }
      linkProjects(root); // as `npm install` would
    },
    node: (...args) =>
      new Promise((resolve, reject) => {
        const options = { cwd: root, env: { ...process.env, NX_DAEMON: 'false' }, maxBuffer: OUTPUT_BYTES };
        execFile(process.execPath, args, options, (error, stdout, stderr) =>
          error ? reject(new Error(`node ${args.join(' ')}\n${stdout}${stderr}`)) : resolve(),
        );
      }),
    remove: () => rmSync(root, { recursive: true }),
  };
}

function linkProjects(root: string): void {
  for (const folder of projectsIn(root)) {
    const { name } = readPackage(join(root, folder)) as { name: string };
    link(join(root, folder), join(root, 'node_modules', name));
  }
}

function projectsIn(root: string): string[] {
  const { workspaces } = readPackage(root) as { workspaces: string[] };
  return globSync(
    workspaces.map((folder) => `${folder}/package.json`),
    { cwd: root },
  ).map(dirname);
}

const readPackage = (folder: string): unknown => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function link(target: string, at: string): void {
  if (existsSync(at) || !existsSync(target)) return;
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(target, at);
}
