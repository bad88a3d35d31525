import type { Identity } from '@taskmesh/identity';
import type {
  AuthInternal,
  AuthSignIn,
  BackupStatus,
  BackupWork,
  DeadLettersInternal,
  PostRequest,
  ServiceStatus,
  StatusOf,
  TasksInternal,
  TasksStatus,
} from '@taskmesh/internal-api';
import type { SubgraphRequest, SubgraphResult } from '@taskmesh/subgraph';

export const REQUEST_TIMEOUT_MS = 10_000;

export interface ServiceCall {
  identity: Identity;
  requestId: string;
  traceparent?: string;
}

/** The gateway's connections to the services: over HTTP, or direct calls within one process. */
export interface Connections {
  /**
   * Sends one GraphQL request. `url` is only for services of a foreign graph (SUPERGRAPH_FILE); ours are reached by
   * name. The caller owns the result and may change it.
   * @throws AppError SERVICE_UNAVAILABLE if no response arrives in time
   */
  request(
    service: string,
    url: string | undefined,
    request: SubgraphRequest,
    options: RequestOptions,
  ): Promise<SubgraphResult>;
  auth: AuthInternal;
  signIn: AuthSignIn;
  tasks: TasksInternal;
  /** Backup operations that GraphQL cannot carry. For operators only; callers must check that first. */
  backup: BackupWork;
  /** For operators only, too. */
  deadLetters: DeadLettersInternal;
  /** For operators only, too: what each service reports about itself, within about a second. */
  status: {
    auth: StatusOf<ServiceStatus>;
    tasks: StatusOf<TasksStatus>;
    backup: StatusOf<BackupStatus>;
  };
  /** How far the service's clock is ahead, or behind if negative; 0 within the tolerance. */
  aheadSeconds(service: string): number;
  /** Resolves when the service responds. */
  probe(service: string, url?: string): Promise<void>;
  close(): Promise<void>;
}

export interface RequestOptions extends Pick<PostRequest, 'network' | 'account' | 'weight'> {
  call: ServiceCall;
  /** For the whole request, in ms. After that it is abandoned, or not even sent. @default 10_000 */
  timeoutMs?: number;
  /** Aborts a query, or a mutation that has not been sent yet; a sent mutation continues. */
  signal?: AbortSignal;
  /** Called before a response of more than 256 KiB is read. */
  onLarge?: PostRequest['onLarge'];
  /** Queries may be resent if the connection breaks before a response arrives; mutations never. */
  idempotent: boolean;
}
