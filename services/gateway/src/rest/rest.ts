import { redeemSignInCode } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import type { GatewayContext } from '../context.ts';
import { serveApiReference, serveFailedSignIn } from '../pages/pages.ts';
import { createPlatformStatus, type StatusContext } from './platform-status.ts';
import { authEndpoints } from './auth/sign-in.ts';
import { createProviderEndpoints } from './auth/provider.ts';
import { archiveEndpoints } from './backup/archives.ts';
import { foreignRestoreEndpoint, restoreEndpoints } from './backup/restores.ts';
import type { ErrorPage } from './endpoint.ts';
import { deadLetterEndpoints, type ExchangeCode, operatorsSignInEndpoints, statusEndpoints } from './operators.ts';
import { type Chapter, describeApi, serveDescription } from './openapi/document.ts';
import { createStoredOperations } from './operations.ts';
import { registerEndpoints, type Mount, type RegisterContext } from './serve-endpoints.ts';
import { fullEndpoints, reducedEndpoints } from './tasks.ts';

export type RestContext = RegisterContext & StatusContext & Pick<GatewayContext, 'config' | 'graph' | 'memory'>;

/** The interface document's endpoints over the graph, and their description. Endpoints whose operation the graph lacks are absent. */
export function restRoutes(app: FastifyInstance, context: RestContext): void {
  const { tasksContract, publicUrl } = context.config;
  const operations = createStoredOperations(context.graph);
  const present = <Part extends Mount>(mount: Part): Part => ({
    ...mount,
    endpoints: mount.endpoints.filter(({ needs }) => !needs || operations.has(needs)),
  });
  const accounts = accountsOf(context, serveFailedSignIn(app));
  const other = tasksContract === 'full' ? 'reduced' : 'full';
  const chapters = [
    accounts,
    { ...TASKS[tasksContract], prefix: '/api' },
    { ...TASKS[other], prefix: `/${other}/api` },
    backupsOf(context),
    ...operationsOf(context),
  ]
    .map(present)
    .filter(({ endpoints }) => endpoints.length > 0);
  /** The same endpoints under their other addresses. */
  const aliases = [
    { ...accounts, prefix: '/full/api' },
    { ...accounts, prefix: '/reduced/api' },
    { ...TASKS[tasksContract], prefix: `/${tasksContract}/api` },
  ].map(present);
  for (const mount of [...chapters, ...aliases]) registerEndpoints(app, context, operations, mount);
  if (chapters.length > 0) {
    serveDescription(app, describeApi(chapters, publicUrl));
    serveApiReference(app);
  }
}

const TASKS = {
  full: {
    envelope: 'tasks',
    endpoints: fullEndpoints,
    tag: 'Tasks',
    description:
      'The full contract, also under `/full/api`. Responses have `success` and `message` besides their `data`.',
  },
  reduced: {
    envelope: 'plain',
    endpoints: reducedEndpoints,
    tag: 'Tasks, reduced',
    description: 'The same tasks with fewer fields, as bare objects; also under `/reduced/api`.',
  },
} as const;

function accountsOf({ connections: { signIn }, config: { publicUrl } }: RestContext, errorPage: ErrorPage): Chapter {
  return {
    envelope: 'plain',
    prefix: '/api',
    tag: 'Accounts',
    description: 'Accounts and sessions, also under `/full/api` and `/reduced/api`.',
    endpoints: [...authEndpoints, ...createProviderEndpoints({ signIn, publicUrl, errorPage })],
  };
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
      envelope: 'tasks',
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
    machineToken && redeemSignInCode(machineToken.file, code, clock.now()) ? machineToken.token : undefined;
}
