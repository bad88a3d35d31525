import { makeTempDir } from '@taskmesh/testing';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

// The client and federation have tests of their own, which also use what is built.
it.each(['event-log', 'local-servers', 'pg-rows', 'realtime-protocol', 'subgraph'])(
  'the package %s is built with everything that it imports',
  (name) => {
    const dir = makeTempDir();
    execFileSync(process.execPath, [join(ROOT, 'tools/build-package.ts'), name, dir]);
    const { dependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    const declared = Object.keys({ ...dependencies, ...peerDependencies });
    const files = globSync('**/*.js', { cwd: dir });
    expect(files.length).toBeGreaterThan(0);
    const code = files.map((file) => readFileSync(join(dir, file), 'utf8')).join('\n');
    for (const [, imported = ''] of code.matchAll(/^(?:import|export) .*from '([^'.][^']*)'/gm))
      if (!imported.startsWith('node:')) expect(declared).toContain(/^(?:@[^/]+\/)?[^/]+/.exec(imported)?.[0]);
    if (name === 'pg-rows') expect(globSync('load/load.process.js', { cwd: dir })).toHaveLength(1);
    if (name === 'local-servers') expect(globSync('kafka/*', { cwd: dir })).toHaveLength(3);
  },
);
