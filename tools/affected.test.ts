import { execFile } from 'node:child_process';
import { globSync, readFileSync, type Dirent } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..');
const env = { ...process.env, NX_DAEMON: 'false', FORCE_COLOR: '0' };

/** `nx show projects --affected --files=…` for many files at once: Nx takes a second to start. */
const SHOW = `
  import { readNxJson } from 'nx/src/config/nx-json.js';
  import { createProjectGraphAsync } from 'nx/src/devkit-exports.js';
  import { filterAffected } from 'nx/src/project-graph/affected/affected-project-graph.js';
  import { WholeFileChange } from 'nx/src/project-graph/file-utils.js';
  import { getTaskRawInputs } from 'nx/src/hasher/check-task-files.js';
  const graph = await createProjectGraphAsync();
  const targets = Object.values(graph.nodes).map(({ name, data }) => ({ name, targets: Object.keys(data.targets ?? {}) }));
  const affected = {};
  for (const file of JSON.parse(process.argv[1])) {
    const { nodes } = await filterAffected(graph, [{ file, hash: '', getChanges: () => [new WholeFileChange()] }]);
    affected[file] = Object.keys(nodes);
  }
  const inputs = {};
  for (const { name } of targets.filter(({ targets }) => targets.includes('build')))
    inputs[name] = (await getTaskRawInputs(name + ':build', { projectGraph: graph, nxJson: readNxJson(process.cwd()) })).files;
  console.log(JSON.stringify({ targets, affected, inputs }));`;

interface Shown {
  targets: { name: string; targets: string[] }[];
  affected: Record<string, string[]>;
  /** The files whose change causes a rebuild, for projects with a build. */
  inputs: Record<string, string[]>;
}

const PLATFORM = ['@taskmesh/all-in-one', '@taskmesh/bench', '@taskmesh/image', '@taskmesh/tests'];
/** The projects that contain the services, or that compare their settings with those of the services. */
const AROUND_SERVICES = [...PLATFORM, '@taskmesh/charts'];
const OF_MAIL = [...AROUND_SERVICES, '@taskmesh/auth', '@taskmesh/backup', '@taskmesh/mail'];
const OF_CONSOLE = [...AROUND_SERVICES, '@taskmesh/console', '@taskmesh/gateway'];
/** The root project's targets (lint, typecheck, test …) read the files of all others. */
const ROOT_PROJECT = 'taskmesh';

const changes: [what: string, file: string, affected: string[]][] = [
  ['a library affects the projects that use it', 'libs/mail/src/index.ts', OF_MAIL],
  ['the console affects the gateway that serves it', 'services/gateway/console/src/main.tsx', OF_CONSOLE],
  ['a service affects no other', 'services/auth/src/main.ts', [...AROUND_SERVICES, '@taskmesh/auth']],
  ['a chart affects no service', 'charts/taskmesh/values.yaml', ['@taskmesh/charts', '@taskmesh/tests']],

  ['the rules for code affect no test', 'eslint.config.mjs', []],
  ['a page affects no code', 'docs/architecture.md', []],
  ['a page that a test reads affects that test', 'docs/limits.md', [...AROUND_SERVICES, '@taskmesh/gateway']],

  ['the Dockerfile affects the projects that become images', 'Dockerfile', PLATFORM],
];
const OF_ALL = ['package-lock.json', 'tsconfig.base.json', 'nx.json'];
const JEST = 'tools/jest.config.mjs';

let shown: Shown;
beforeAll(async () => {
  const files = JSON.stringify([...changes.map(([, file]) => file), ...OF_ALL, JEST]);
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', SHOW, files], { cwd: ROOT, env });
  shown = JSON.parse(stdout) as Shown; // what SHOW prints
});

it.each(changes)('a change of %s', (_what, file, affected) => {
  expect(shown.affected[file]?.toSorted()).toEqual([...affected, ROOT_PROJECT].toSorted());
});

it('a change of what all depend on affects all projects, and one of the Jest configuration all with tests', () => {
  const { targets: all, affected } = shown;
  for (const file of OF_ALL)
    expect([file, affected[file]?.toSorted()]).toEqual([file, all.map(({ name }) => name).toSorted()]);
  const tested = all.filter(({ targets }) => targets.includes('test'));
  expect(affected[JEST]?.toSorted()).toEqual(tested.map(({ name }) => name).toSorted());
});

it('every image is rebuilt if a file changes that it may contain', () => {
  const context = readFileSync(join(ROOT, '.dockerignore'), 'utf8').match(/(?<=^!).+/gm) ?? [];
  const patterns = context.flatMap((entry) => [entry, `${entry}/**`]);
  const options = { cwd: ROOT, withFileTypes: true, exclude: ({ name }: Dirent) => name === 'node_modules' } as const;
  const entries = globSync(patterns, options).filter((entry) => entry.isFile());
  const files = entries.map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)));
  expect(files.length).toBeGreaterThan(500);
  expect(Object.keys(shown.inputs).toSorted()).toEqual(['@taskmesh/all-in-one', '@taskmesh/image']);
  for (const [name, inputs] of Object.entries(shown.inputs)) {
    const known = new Set(inputs);
    expect([name, [...files, 'Dockerfile', '.dockerignore'].filter((file) => !known.has(file))]).toEqual([name, []]);
  }
});
