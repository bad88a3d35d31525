import type { ExecutorContext, TaskResult } from 'nx/src/config/misc-interfaces.js';
import type { TaskGraph } from 'nx/src/config/task-graph.js';

/** Where the files of a project are. The project of the root has what is in no other. */
export interface Project {
  name: string;
  root: string;
  /** The roots of all other projects within. */
  without: string[];
}

/** Checks projects, and returns the findings of each. */
export type Check = (projects: Project[], root: string) => AsyncIterable<{ project: Project; findings: string }>;

/**
 * What Nx runs: all projects whose result is not in its cache, in one process, so that what a check needs is loaded
 * once; and what it runs when it must not batch.
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

/** Whether a project has a file, which is named from the root of all. */
export function has({ root, without }: Project, file: string): boolean {
  return (root === '.' || file.startsWith(`${root}/`)) && !without.some((other) => file.startsWith(`${other}/`));
}
