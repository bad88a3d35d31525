import type { Identity } from '@taskmesh/identity';
import type {
  AuthInternal,
  BackupStatus,
  BackupWork,
  DeadLettersInternal,
  ServiceStatus,
  StatusOf,
  TasksInternal,
  TasksStatus,
} from '@taskmesh/internal-api';
import type { SubgraphRequest, SubgraphResult } from '@taskmesh/subgraph';

export const REQUEST_TIMEOUT_MS = 10_000;

/** What goes along with a request to a service. */
export interface ServiceCall {
  identity: Identity;
  requestId: string;
  traceparent?: string;
  /** Others are served meanwhile: what is costly gives way to them. */
  isBackground?: boolean;
}

/** The gateway's ways to the services: over HTTP, or plain calls in one process. */
export interface Connections {
  /**
   * One GraphQL request. `url` is only for services of a foreign graph (SUPERGRAPH_FILE); ours are known by name.
   * The result belongs to the caller, who may change it.
   * @throws AppError SERVICE_UNAVAILABLE when there is no answer in time
   */
  request(
    service: string,
    url: string | undefined,
    request: SubgraphRequest,
    options: RequestOptions,
  ): Promise<SubgraphResult>;
  auth: AuthInternal;
  tasks: TasksInternal;
  /** For operators only: who calls it has checked that. */
  backup: BackupWork;
  /** For operators only, too. */
  deadLetters: DeadLettersInternal;
  /** For operators only, too: each service of itself, within about a second. */
  status: {
    auth: StatusOf<ServiceStatus>;
    tasks: StatusOf<TasksStatus>;
    backup: StatusOf<BackupStatus>;
  };
  /** Resolves when the service answers. */
  probe(service: string, url?: string): Promise<void>;
  close(): Promise<void>;
}

export interface RequestOptions {
  call: ServiceCall;
  /** For all of it: what has no answer by then is given up, and not sent if it was not. @default 10_000 */
  timeoutMs?: number;
  /** Ends a query, and a mutation that was not sent; one that was sent goes on. */
  signal?: AbortSignal;
  /** Queries may be sent again when the connection broke before an answer; mutations never. */
  idempotent: boolean;
}
