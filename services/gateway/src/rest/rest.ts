import { takeSignInCode } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import type { GatewayContext } from '../context.ts';
import { serveApiReference, serveFailedSignIn } from '../pages/pages.ts';
import { createPlatformStatus, type StatusContext } from './platform-status.ts';
import { authEndpoints } from './auth/sign-in.ts';
import { createProviderEndpoints } from './auth/provider.ts';
import { archiveEndpoints } from './backup/archives.ts';
import { foreignRestoreEndpoint, restoreEndpoints } from './backup/restores.ts';
import type { ErrorPage } from './endpoint.ts';
import { fullEndpoints } from './tasks/full.ts';
import { deadLetterEndpoints, type ExchangeCode, operatorsSignInEndpoints, statusEndpoints } from './operators.ts';
import { type Chapter, describeApi, serveDescription } from './openapi/document.ts';
import { createStoredOperations, type StoredOperations } from './operations.ts';
import { reducedEndpoints } from './tasks/reduced.ts';
import { registerEndpoints, type Mount, type RegisterContext } from './serve-endpoints.ts';

type Contract = 'full' | 'reduced';

export type RestContext = RegisterContext & StatusContext & Pick<GatewayContext, 'config' | 'graph'>;

/** The interface document's endpoints over the graph, and their description. Those that the graph lacks are absent. */
export function restRoutes(app: FastifyInstance, context: RestContext): void {
  const { tasksContract, publicUrl } = context.config;
  const auth = accountsOf(context, serveFailedSignIn(app));
  const operations = createStoredOperations(context.graph);
  const chapters = [...chaptersFor(tasksContract, auth), backupsOf(context), ...operationsOf(context)]
    .map((chapter) => present(chapter, operations))
    .filter(({ endpoints }) => endpoints.length > 0);
  for (const mount of [...chapters, ...aliasesFor(tasksContract, auth).map((alias) => present(alias, operations))]) {
    registerEndpoints(app, context, operations, mount);
  }
  if (chapters.length > 0) {
    serveDescription(app, describeApi(chapters, publicUrl));
    serveApiReference(app);
  }
}

const FULL = { envelope: 'tasks', endpoints: fullEndpoints } as const;
const REDUCED = { envelope: 'plain', endpoints: reducedEndpoints } as const;

type Endpoints = Pick<Mount, 'envelope' | 'endpoints'>;

function accountsOf({ connections: { signIn }, config: { publicUrl } }: RestContext, errorPage: ErrorPage): Endpoints {
  const ofProvider = createProviderEndpoints({ signIn, publicUrl, errorPage });
  return { envelope: 'plain', endpoints: [...authEndpoints, ...ofProvider] };
}

const OTHER: Record<Contract, Contract> = { full: 'reduced', reduced: 'full' };

/** What the API description shows: each endpoint once. */
function chaptersFor(contract: Contract, auth: Endpoints): Chapter[] {
  const tasks: Record<Contract, Omit<Chapter, 'prefix'>> = {
    full: {
      ...FULL,
      tag: 'Tasks',
      description:
        'The full contract, also under `/full/api`. Responses have `success` and `message` besides their `data`.',
    },
    reduced: {
      ...REDUCED,
      tag: 'Tasks, reduced',
      description: 'The same tasks with fewer fields, as bare objects; also under `/reduced/api`.',
    },
  };
  const other = OTHER[contract];
  return [
    {
      ...auth,
      prefix: '/api',
      tag: 'Accounts',
      description: 'Accounts and sessions, also under `/full/api` and `/reduced/api`.',
    },
    { ...tasks[contract], prefix: '/api' },
    { ...tasks[other], prefix: `/${other}/api` },
  ];
}

/** A foreign graph's backups are limited to its own operations. */
function backupsOf({ connections, graph }: RestContext): Chapter {
  const { backup } = connections;
  return {
    envelope: 'backup',
    prefix: '/api',
    tag: 'Backups',
    description:
      'For operators: those who send `BACKUP_TOKEN` as `Authorization: Bearer <token>` or, if it is not set, callers on the same machine. Also on the command line: `npm run backup`.',
    endpoints: graph.current.supergraph.own
      ? [...archiveEndpoints(backup), ...restoreEndpoints(backup)]
      : [foreignRestoreEndpoint],
  };
}

/** Our own services' health; a foreign graph has none of them. */
function operationsOf(context: RestContext): Chapter[] {
  if (!context.graph.current.supergraph.own) return [];
  return [
    {
      envelope: 'operations',
      prefix: '/api',
      tag: 'Operations',
      description:
        'For operators (as defined under Backups): the health of the platform, and the dead letters of the feed.',
      endpoints: [
        ...operatorsSignInEndpoints(codeExchange(context)),
        ...statusEndpoints(createPlatformStatus(context)),
        ...deadLetterEndpoints(context.connections.deadLetters),
      ],
    },
  ];
}

/** Only the token of this machine has codes. */
function codeExchange({ clock, config }: RestContext): ExchangeCode {
  const { machineToken } = config.secrets;
  return (code) =>
    machineToken && takeSignInCode(machineToken.file, code, clock.now()) ? machineToken.token : undefined;
}

/** The same endpoints under their other addresses. */
function aliasesFor(contract: Contract, auth: Endpoints): Mount[] {
  return [
    { ...auth, prefix: '/full/api' },
    { ...auth, prefix: '/reduced/api' },
    { ...(contract === 'full' ? FULL : REDUCED), prefix: `/${contract}/api` },
  ];
}

/** Leaves out what this graph does not support. */
function present<Part extends Mount>(mount: Part, operations: StoredOperations): Part {
  return { ...mount, endpoints: mount.endpoints.filter(({ needs }) => !needs || operations.has(needs)) };
}
