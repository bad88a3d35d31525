import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createExecutors, has, type Project } from './check.ts';

interface JestResult {
  testResults: { name: string; status: string; message: string }[];
}

/** Runs Jest once for all projects, so that the servers are started once. */
async function* test(projects: Project[], root: string) {
  const dir = mkdtempSync(join(tmpdir(), 'taskmesh-nx-'));
  try {
    const resultFile = join(dir, 'result.json');
    const passed = await runTests(
      projects.map((project) => pattern(project, root)),
      { cwd: root, resultFile },
    );
    const { testResults } = JSON.parse(readFileSync(resultFile, 'utf8')) as JestResult; // Jest's own format
    const failed = testResults.filter(({ status }) => status === 'failed');
    for (const project of projects) {
      const own = failed.filter(({ name }) => has(project, relative(root, name))).map(({ message }) => message);
      yield { project, findings: passed || failed.length > 0 ? own.join('\n') : 'The run has failed as a whole.' };
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/** Returns patterns for the paths of a project's tests. */
function pattern({ root, without }: Project, workspace: string): string {
  return root === '.' ? `^${workspace}/(?!(${without.join('|')})/)` : `^${workspace}/${root}/`;
}

function runTests(patterns: string[], { cwd, resultFile }: { cwd: string; resultFile: string }): Promise<boolean> {
  const child = spawn(process.execPath, ['scripts/test.mjs', ...patterns], {
    cwd,
    env: { ...process.env, TASKMESH_TEST_RESULT: resultFile },
    stdio: 'inherit',
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code === 0));
  });
}

export const { all: testAll, one: testOne } = createExecutors(test);
