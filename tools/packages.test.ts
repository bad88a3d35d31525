import { makeTempDir } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { globSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const build = (name: string, dir: string) =>
  execFileSync(process.execPath, [join(ROOT, 'tools/build-package.ts'), name, dir], { encoding: 'utf8' });

// The client and federation have tests of their own, which also use what is built.
it.each(['event-log', 'local-servers', 'pg-rows', 'realtime-protocol', 'subgraph'])(
  'the package %s is built with everything that it imports',
  (name) => {
    const dir = makeTempDir();
    build(name, dir);
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    const declared = Object.keys({ ...dependencies, ...peerDependencies });
    const files = globSync('**/*.js', { cwd: dir });
    expect(files.length).toBeGreaterThan(0);
    for (const file of files)
      for (const [, imported = ''] of readFileSync(join(dir, file), 'utf8').matchAll(
        /^(?:import|export) .*from '([^'.][^']*)'/gm,
      ))
        if (!imported.startsWith('node:')) expect(declared).toContain(/^(?:@[^/]+\/)?[^/]+/.exec(imported)?.[0]);
    if (name === 'pg-rows') expect(globSync('load/load.process.js', { cwd: dir })).toHaveLength(1);
    if (name === 'local-servers') expect(globSync('kafka/*', { cwd: dir })).toHaveLength(3);
  },
);

it('a package that is installed as its build says stays a copy at later installs', () => {
  const cwd = makeTempDir();
  const [, command = ''] = /In your project: (.*)/.exec(build('client', makeTempDir())) ?? [];
  const PATH = `${dirname(process.execPath)}:${process.env.PATH ?? ''}`;
  const env = { ...process.env, PATH, npm_config_offline: 'true', npm_config_audit: 'false' };
  execFileSync('sh', ['-c', `npm init -y && ${command} && npm install`], { cwd, env, stdio: 'pipe' });
  expect(lstatSync(join(cwd, 'node_modules/@taskmesh/client')).isSymbolicLink()).toBe(false);
});
