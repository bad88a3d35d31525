import type { FastifyInstance } from 'fastify';
import { authEndpoints } from './auth/endpoints.ts';
import { backupRoutes, type BackupContext } from './backup/routes.ts';
import { docsRoutes } from './docs/routes.ts';
import { fullEndpoints } from './full/endpoints.ts';
import { describeBackups } from './openapi/backups.ts';
import { describeApi, type Chapter } from './openapi/document.ts';
import { prepareOperations, type PreparedOperations } from './operations.ts';
import { reducedEndpoints } from './reduced/endpoints.ts';
import { serve, type Mount, type RestContext } from './serve.ts';

type Contract = 'full' | 'reduced';

/** The interface document's endpoints over the graph, and their description. What the graph cannot do is absent. */
export function restRoutes(app: FastifyInstance, parts: RestContext & BackupContext): void {
  const { tasksContract, publicUrl } = parts.config;
  const operations = prepareOperations(parts.executor);
  const chapters = chaptersFor(tasksContract).map((chapter) => present(chapter, operations));
  for (const mount of [...chapters, ...aliasesFor(tasksContract).map((alias) => present(alias, operations))]) {
    serve(app, parts, operations, mount);
  }
  backupRoutes(app, parts);
  if (chapters.some(({ endpoints }) => endpoints.length > 0))
    docsRoutes(app, describeApi(chapters, publicUrl, parts.graph.current.supergraph.own ? [describeBackups()] : []));
}

const FULL = { envelope: 'tasks', endpoints: fullEndpoints } as const;
const REDUCED = { envelope: 'plain', endpoints: reducedEndpoints } as const;
const AUTH = { envelope: 'plain', endpoints: authEndpoints } as const;

const OTHER: Record<Contract, Contract> = { full: 'reduced', reduced: 'full' };

/** What the API description shows: each endpoint once. */
function chaptersFor(contract: Contract): Chapter[] {
  const tasks: Record<Contract, Omit<Chapter, 'prefix'>> = {
    full: {
      ...FULL,
      tag: 'Tasks',
      description:
        'The full contract; also below `/full/api`. Answers say `success` and `message` beside their `data`.',
    },
    reduced: {
      ...REDUCED,
      tag: 'Tasks, reduced',
      description: 'The same tasks with fewer fields, as bare objects; also below `/reduced/api`.',
    },
  };
  const other = OTHER[contract];
  return [
    {
      ...AUTH,
      prefix: '/api',
      tag: 'Accounts',
      description: 'Accounts and sessions; the same below `/full/api` and `/reduced/api`.',
    },
    { ...tasks[contract], prefix: '/api' },
    { ...tasks[other], prefix: `/${other}/api` },
  ];
}

/** The same endpoints under their other addresses. */
function aliasesFor(contract: Contract): Mount[] {
  return [
    { ...AUTH, prefix: '/full/api' },
    { ...AUTH, prefix: '/reduced/api' },
    { ...(contract === 'full' ? FULL : REDUCED), prefix: `/${contract}/api` },
  ];
}

/** What of it this graph can do. */
function present<Part extends Mount>(mount: Part, operations: PreparedOperations): Part {
  return { ...mount, endpoints: mount.endpoints.filter(({ needs }) => operations.has(needs)) };
}
