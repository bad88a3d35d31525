import { ESLint } from 'eslint';
import { createExecutors, type Project } from './check.ts';

async function* lint(projects: Project[], cwd: string) {
  for (const project of projects) {
    const eslint = new ESLint({ cwd, ignorePatterns: project.without.map((other) => `${other}/`) });
    const results = await eslint.lintFiles([project.root]);
    yield { project, findings: await (await eslint.loadFormatter('stylish')).format(results) };
  }
}

export const { all: lintAll, one: lintOne } = createExecutors(lint);
