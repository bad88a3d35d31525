import type { ExecutorContext, TaskResult } from 'nx/src/config/misc-interfaces.js';
import type { TaskGraph } from 'nx/src/config/task-graph.js';

/** The location of a project's files. The root project has the files that belong to no other project. */
export interface Project {
  name: string;
  root: string;
  /** The roots of all projects inside this one. */
  without: string[];
}

/** Checks projects, and yields the findings of each. */
export type Check = (projects: Project[], root: string) => AsyncIterable<{ project: Project; findings: string }>;

/**
 * Executors for Nx: `all` checks all projects whose results are not cached in one process, so that the check's dependencies are
 * loaded once; `one` is for runs without batches.
 */
export function createExecutors(check: Check) {
  return {
    async *all(
      { tasks }: TaskGraph,
      _inputs: unknown,
      _overrides: unknown,
      context: ExecutorContext,
    ): AsyncGenerator<{ task: string; result: TaskResult }> {
      const ids = new Map(Object.values(tasks).map(({ id, target }) => [target.project, id]));
      let startTime = Date.now();
      for await (const { project, findings } of check(projectsOf([...ids.keys()], context), context.root)) {
        const endTime = Date.now();
        const result = { success: findings === '', terminalOutput: findings, startTime, endTime };
        yield { task: ids.get(project.name) ?? '', result };
        startTime = endTime;
      }
    },
    async one(_options: unknown, context: ExecutorContext): Promise<{ success: boolean }> {
      let success = true;
      for await (const { findings } of check(projectsOf([context.projectName ?? ''], context), context.root)) {
        if (findings === '') continue;
        console.log(findings);
        success = false;
      }
      return { success };
    },
  };
}

function projectsOf(names: string[], { projectsConfigurations: { projects } }: ExecutorContext): Project[] {
  const roots = Object.values(projects).map(({ root }) => root);
  return names.map((name) => {
    const root = projects[name]?.root;
    if (root === undefined) throw new Error(`There is no project ${name}.`);
    return { name, root, without: root === '.' ? roots.filter((other) => other !== root) : [] };
  });
}

/** Whether a project contains a file, given relative to the workspace's root. */
export function has({ root, without }: Project, file: string): boolean {
  return (root === '.' || file.startsWith(`${root}/`)) && !without.some((other) => file.startsWith(`${other}/`));
}
