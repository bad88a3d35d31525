import { atEnd, makeTempDir } from '@taskmesh/testing';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { createGraphql, register } from '../../http.ts';
import { startProduct } from '../../product.ts';
import { changed, type Step, stepsOf } from './steps.ts';
import { execFile, execFileSync } from 'node:child_process';

const ROOT = join(import.meta.dirname, '../../..');
const OURS = '@taskmesh';
const OUTPUT_BYTES = 16 * 1024 * 1024;

/** Copies the repository's files, and links the packages that are installed here. */
function copyRepository() {
  const root = makeTempDir();
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
    /** Applies the steps. */
    follow(steps: readonly Step[]) {
      for (const step of steps) {
        const file = join(root, step.file);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, 'text' in step ? step.text : changed(readFileSync(file, 'utf8'), step));
      }
      linkProjects(root); // as `npm install` would
    },
    /** Runs Node in the copy. @throws Error with its output if it fails */
    node: (...args: string[]) =>
      new Promise<void>((resolve, reject) => {
        const options = { cwd: root, env: { ...process.env, NX_DAEMON: 'false' }, maxBuffer: OUTPUT_BYTES };
        execFile(process.execPath, args, options, (error, stdout, stderr) =>
          error ? reject(new Error(`node ${args.join(' ')}\n${stdout}${stderr}`)) : resolve(),
        );
      }),
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
  const packages = workspaces.map((folder) => `${folder}/package.json`);
  return globSync(packages, { cwd: root }).map(dirname);
}

const readPackage = (folder: string): unknown => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

function link(target: string, at: string): void {
  if (existsSync(at) || !existsSync(target)) return;
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(target, at);
}

const GUIDES = join(import.meta.dirname, '../../../docs/guides');
const NX = 'node_modules/nx/dist/bin/nx.js';
const CHECKS = [NX, 'run-many', '--outputStyle=static', '-t', 'typecheck', 'lint', 'format', 'unused'];

describe('following a guide to the letter', () => {
  let copy: ReturnType<typeof copyRepository>;
  beforeEach(() => {
    copy = copyRepository();
  });
  const follow = async (guide: string) => {
    copy.follow(stepsOf(readFileSync(join(GUIDES, `${guide}.md`), 'utf8')));
    await copy.node('tools/codegen.ts');
    await copy.node(...CHECKS);
  };

  it('adds a task field that is stored, restored, published and returned', async () => {
    await follow('add-a-field');
    const ofTasks = ['task-fields', 'feed', 'entities', 'import'];
    const ofGateway = ['rest-errors', 'rest-openapi', 'federation'];
    await copy.node(
      ...['scripts/test.mjs', 'libs/contracts', 'packages/client', 'tests/contract/stack', 'tests/backup/releases'],
      ...ofTasks.map((name) => `services/tasks/tests/${name}`),
      ...ofGateway.map((name) => `services/gateway/tests/${name}`),
    );
  }, 900_000);

  it('adds a REST path that is described, validated and tested', async () => {
    await follow('add-a-rest-path');
    await copy.node('scripts/test.mjs', 'services/gateway/tests/rest-', 'tests/contract/stack');
  }, 600_000);

  it('adds a service to the graph, the single process, the stack and the image', async () => {
    await follow('add-a-service');
    const ofGateway = ['src/config', 'tests/federation', 'tests/supergraph-reload', 'tests/connections'];
    await copy.node(
      ...['scripts/test.mjs', 'services/notes', ...ofGateway.map((name) => `services/gateway/${name}`)],
      ...['tools/settings', 'deploy/image/main'],
    );

    const product = await startProduct('start', {}, copy.root);
    atEnd(product.stop);
    const { token } = await register(product.url);
    const graphql = createGraphql(product.url);
    await graphql('mutation { addNote(text: "Water the plants") { id } }', { token });
    expect(await graphql('{ notes { text } }', { token })).toEqual({ data: { notes: [{ text: 'Water the plants' }] } });
  }, 900_000);
});
