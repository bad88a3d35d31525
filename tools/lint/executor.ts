import { ESLint } from 'eslint';
import type { ExecutorContext, TaskResult } from 'nx/src/config/misc-interfaces.js';
import type { TaskGraph } from 'nx/src/config/task-graph.js';

/**
 * Every project whose result is not in Nx's cache, in one process: ESLint, its plugins and TypeScript's program are
 * loaded once, not once for each.
 */
export async function* lintAll(
  { tasks }: TaskGraph,
  _inputs: unknown,
  _overrides: unknown,
  context: ExecutorContext,
): AsyncGenerator<{ task: string; result: TaskResult }> {
  for (const { id, target } of Object.values(tasks)) {
    const startTime = Date.now();
    const findings = await lint(target.project, context);
    yield {
      task: id,
      result: { success: findings === '', terminalOutput: findings, startTime, endTime: Date.now() },
    };
  }
}

/** What Nx calls when it must not batch. */
export async function lintOne(_options: unknown, context: ExecutorContext): Promise<{ success: boolean }> {
  const findings = await lint(context.projectName ?? '', context);
  if (findings !== '') console.log(findings);
  return { success: findings === '' };
}

/** What is wrong in a project, or nothing. The project of the root has what is in no other. */
async function lint(name: string, { root: cwd, projectsConfigurations }: ExecutorContext): Promise<string> {
  const roots = Object.values(projectsConfigurations.projects).map(({ root }) => root);
  const root = projectsConfigurations.projects[name]?.root;
  if (!root) throw new Error(`There is no project ${name}.`);
  const ignorePatterns = root === '.' ? roots.filter((other) => other !== root).map((other) => `${other}/`) : [];
  const eslint = new ESLint({ cwd, ignorePatterns });
  const results = await eslint.lintFiles([root]);
  return (await eslint.loadFormatter('stylish')).format(results);
}
