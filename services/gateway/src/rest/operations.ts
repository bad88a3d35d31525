import { GRAPH_FIELDS, type TaskImage, type UpdateTask } from '@taskmesh/contracts';
import type { BackupEntry, RestoreEnd, UndoableRestore } from '@taskmesh/internal-api';
import { InvalidOperation, type GraphExecutor, type PreparedOperation } from '../supergraph/operation.ts';

/** A fixed GraphQL document. Values are passed only as variables, so it is prepared once. */
export interface StoredOperation<Variables, Result> {
  readonly source: string;
  /** How long an endpoint waits for it. @default as any other client */
  readonly limitMs?: number;
  /** Used by the type checker only. */
  readonly types?: { variables: (variables: Variables) => void; result: Result };
}

const operation = <Variables, Result>(
  source: string,
  options: Pick<StoredOperation<Variables, Result>, 'limitMs'> = {},
): StoredOperation<Variables, Result> => ({ source, ...options });

type Priority = 'LOW' | 'MEDIUM' | 'HIGH';

/** A task as selected by `TASK`; its owner is the caller. */
export type TaskNode = Omit<TaskImage, 'ownerId' | 'priority'> & { priority: Priority };

const TASK = GRAPH_FIELDS.join(' ');

export interface TaskPage {
  edges: { node: TaskNode }[];
  pageInfo: { hasNextPage: boolean };
}

export type TaskFields = Omit<UpdateTask, 'priority'> & { priority?: Priority };

export interface ListVariables {
  filter: { completed?: boolean; category?: string; priority?: Priority };
  orderBy: { field: 'CREATED_AT' | 'UPDATED_AT' | 'DUE_DATE' | 'PRIORITY'; direction: 'ASC' | 'DESC' };
  first: number;
  offset: number;
}

export interface StatisticsNode {
  total: number;
  completed: number;
  pending: number;
  completionPercentage: number;
}

export interface ProfileNode extends AccountNode {
  name: string;
}

interface AccountNode {
  id: string;
  email: string;
  emailConfirmedAt: string;
}

const PROFILE = 'id email name emailConfirmedAt';

// REST clients get a refresh token only on request; otherwise the session ends with its access token.
const SESSION = 'accessToken refreshToken @include(if: $refresh) user { id email emailConfirmedAt }';
export interface SessionNode {
  accessToken: string;
  refreshToken?: string;
  user: AccountNode;
}

export interface OpenSessionNode {
  id: string;
  createdAt: string;
  lastUsedAt: string;
  ip: string | null;
  client: string | null;
  current: boolean;
}

type Scope = 'READ' | 'WRITE';

export interface PersonalTokenNode {
  id: string;
  name: string;
  scope: Scope;
  createdAt: string;
  expiresAt: string;
  lastUsedAt: string | null;
}

const PERSONAL_TOKEN = 'id name scope createdAt expiresAt lastUsedAt';

export interface LinkedIdentityNode {
  id: string;
  issuer: string;
  email: string;
  createdAt: string;
  lastUsedAt: string;
}

const LINKED_IDENTITY = 'id issuer email createdAt lastUsedAt';

export interface AuditEntryNode {
  id: string;
  at: string;
  kind: string;
  sessionId: string | null;
  ip: string | null;
}

const BACKUP = 'file sizeBytes sha256 createdAt origin stores verifiedAt verifiedVersion unfitAt unfitReason';

/** A bucket that does not answer is given up after 15 seconds; the reason is worth waiting for. */
const ASKING_ARCHIVES = { limitMs: 20_000 };
/** Restores that were interrupted are settled first. */
const SETTLING_STORES = { limitMs: 10 * 60_000 };

/** Tasks ordered by creation. */
export interface ExportPage {
  edges: { node: TaskNode }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

export const OPERATIONS = {
  signUp: operation<
    { input: { email: string; password: string; name: string }; refresh: boolean },
    { session: SessionNode }
  >(`mutation RestSignUp($input: SignUpInput!, $refresh: Boolean!) { session: signUp(input: $input) { ${SESSION} } }`),
  login: operation<{ input: { email: string; password: string }; refresh: boolean }, { session: SessionNode }>(
    `mutation RestLogin($input: LoginInput!, $refresh: Boolean!) { session: login(input: $input) { ${SESSION} } }`,
  ),
  refreshSession: operation<
    { refreshToken: string },
    { session: { accessToken: string; refreshToken: string; expiresIn: number } }
  >(
    `mutation RestRefresh($refreshToken: String!) {
      session: refreshSession(refreshToken: $refreshToken) { accessToken refreshToken expiresIn }
    }`,
  ),
  logout: operation<object, { logout: boolean }>('mutation RestLogout { logout }'),
  sessions: operation<object, { sessions: OpenSessionNode[] }>(
    'query RestSessions { sessions { id createdAt lastUsedAt ip client current } }',
  ),
  endSession: operation<{ id: string }, { endSession: string }>(
    'mutation RestEndSession($id: ID!) { endSession(id: $id) }',
  ),
  endOtherSessions: operation<object, { endOtherSessions: number }>(
    'mutation RestEndOtherSessions { endOtherSessions }',
  ),
  profile: operation<object, { profile: ProfileNode }>(`query RestProfile { profile: me { ${PROFILE} } }`),
  changeName: operation<{ name: string }, { profile: ProfileNode }>(
    `mutation RestChangeName($name: String!) { profile: changeName(name: $name) { ${PROFILE} } }`,
  ),
  changePassword: operation<{ input: { currentPassword: string; newPassword: string } }, { changePassword: boolean }>(
    'mutation RestChangePassword($input: ChangePasswordInput!) { changePassword(input: $input) }',
  ),
  requestEmailChange: operation<{ input: { email: string; password: string } }, { requestEmailChange: boolean }>(
    'mutation RestChangeEmail($input: ChangeEmailInput!) { requestEmailChange(input: $input) }',
  ),
  confirmEmailChange: operation<{ token: string; password?: string | undefined }, { confirmEmailChange: boolean }>(
    'mutation RestConfirmEmail($token: String!, $password: String) { confirmEmailChange(token: $token, password: $password) }',
  ),
  deleteAccount: operation<{ input: { password: string } }, { deleteAccount: boolean }>(
    'mutation RestDeleteAccount($input: DeleteAccountInput!) { deleteAccount(input: $input) }',
  ),
  personalTokens: operation<object, { tokens: PersonalTokenNode[] }>(
    `query RestTokens { tokens: personalTokens { ${PERSONAL_TOKEN} } }`,
  ),
  createPersonalToken: operation<
    { input: { name: string; scope: Scope; expiresAt: string } },
    { created: { token: string; personalToken: PersonalTokenNode } }
  >(
    `mutation RestCreateToken($input: CreatePersonalTokenInput!) {
      created: createPersonalToken(input: $input) { token personalToken { ${PERSONAL_TOKEN} } }
    }`,
  ),
  endPersonalToken: operation<{ id: string }, { endPersonalToken: string }>(
    'mutation RestEndToken($id: ID!) { endPersonalToken(id: $id) }',
  ),
  signInProvider: operation<object, { provider: { name: string } | null }>(
    'query RestSignInProvider { provider: signInProvider { name } }',
  ),
  signInWithCode: operation<
    { input: { code: string; verifier: string; password?: string | undefined }; refresh: boolean },
    { session: SessionNode }
  >(
    `mutation RestSignInWithCode($input: SignInWithCodeInput!, $refresh: Boolean!) {
      session: signInWithCode(input: $input) { ${SESSION} }
    }`,
  ),
  linkedIdentities: operation<object, { identities: LinkedIdentityNode[] }>(
    `query RestIdentities { identities: linkedIdentities { ${LINKED_IDENTITY} } }`,
  ),
  linkIdentity: operation<
    { input: { code: string; verifier: string; password: string } },
    { identity: LinkedIdentityNode }
  >(
    `mutation RestLinkIdentity($input: LinkIdentityInput!) { identity: linkIdentity(input: $input) { ${LINKED_IDENTITY} } }`,
  ),
  unlinkIdentity: operation<{ id: string }, { unlinkIdentity: string }>(
    'mutation RestUnlinkIdentity($id: ID!) { unlinkIdentity(id: $id) }',
  ),
  auditEntries: operation<{ first: number; after: string | null }, { entries: AuditEntryNode[] }>(
    `query RestAudit($first: Int, $after: ID) {
      entries: auditEntries(first: $first, after: $after) { id at kind sessionId ip }
    }`,
  ),
  exportTasks: operation<{ first: number; after: string | null }, { tasks: ExportPage }>(
    `query RestExportTasks($first: Int, $after: String) {
      tasks(first: $first, after: $after, orderBy: { field: CREATED_AT, direction: ASC }) {
        edges { node { ${TASK} } }
        pageInfo { hasNextPage endCursor }
      }
    }`,
  ),
  requestPasswordReset: operation<{ email: string }, { requestPasswordReset: boolean }>(
    'mutation RestForgotPassword($email: String!) { requestPasswordReset(email: $email) }',
  ),
  resetPassword: operation<{ input: { token: string; newPassword: string } }, { resetPassword: boolean }>(
    'mutation RestResetPassword($input: ResetPasswordInput!) { resetPassword(input: $input) }',
  ),
  createTask: operation<{ input: TaskFields & { title: string }; idempotencyKey: string | null }, { task: TaskNode }>(
    `mutation RestCreateTask($input: CreateTaskInput!, $idempotencyKey: String) {
      task: createTask(input: $input, idempotencyKey: $idempotencyKey) { ${TASK} }
    }`,
  ),
  updateTask: operation<{ id: string; input: TaskFields; ifVersion: number | null }, { task: TaskNode }>(
    `mutation RestUpdateTask($id: ID!, $input: UpdateTaskInput!, $ifVersion: Int) {
      task: updateTask(id: $id, input: $input, ifVersion: $ifVersion) { ${TASK} }
    }`,
  ),
  deleteTask: operation<{ id: string; ifVersion: number | null }, { deleteTask: string }>(
    'mutation RestDeleteTask($id: ID!, $ifVersion: Int) { deleteTask(id: $id, ifVersion: $ifVersion) }',
  ),
  task: operation<{ id: string }, { task: TaskNode | null }>(`query RestTask($id: ID!) { task(id: $id) { ${TASK} } }`),
  tasks: operation<ListVariables, { tasks: TaskPage }>(
    `query RestTasks($filter: TaskFilter, $orderBy: TaskOrder, $first: Int, $offset: Int) {
      tasks(filter: $filter, orderBy: $orderBy, first: $first, offset: $offset) {
        edges { node { ${TASK} } }
        pageInfo { hasNextPage }
      }
    }`,
  ),
  tasksAndTotal: operation<ListVariables, { tasks: TaskPage & { totalCount: number } }>(
    `query RestTasksAndTotal($filter: TaskFilter, $orderBy: TaskOrder, $first: Int, $offset: Int) {
      tasks(filter: $filter, orderBy: $orderBy, first: $first, offset: $offset) {
        edges { node { id title description completed createdAt updatedAt } }
        pageInfo { hasNextPage }
        totalCount
      }
    }`,
  ),
  taskStatistics: operation<object, { taskStatistics: StatisticsNode }>(
    'query RestTaskStatistics { taskStatistics { total completed pending completionPercentage } }',
  ),
  backups: operation<object, { backups: BackupEntry[] }>(
    `query RestBackups { backups { ${BACKUP} } }`,
    ASKING_ARCHIVES,
  ),
  backup: operation<{ file: string }, { backup: Pick<BackupEntry, 'sizeBytes' | 'sha256'> | null }>(
    'query RestBackup($file: String!) { backup(file: $file) { sizeBytes sha256 } }',
    ASKING_ARCHIVES,
  ),
  deleteBackup: operation<{ file: string }, { deleteBackup: boolean }>(
    'mutation RestDeleteBackup($file: String!) { deleteBackup(file: $file) }',
    ASKING_ARCHIVES,
  ),
  undoableRestore: operation<object, { undoable: UndoableRestore | null }>(
    `query RestUndoableRestore {
      undoable: undoableRestore { file stores isUndo restoredAt keptUntil replacedKeptMs }
    }`,
  ),
  newEpoch: operation<{ atLeast: number | null }, { begun: { epoch: number } }>(
    'mutation RestNewEpoch($atLeast: Int) { begun: newEpoch(atLeast: $atLeast) { epoch } }',
    SETTLING_STORES,
  ),
  restoreBackup: operation<{ file: string }, { restore: Omit<RestoreEnd, 'dropped'> }>(
    `mutation RestRestore($file: String!) {
      restore: restoreBackup(file: $file) { success message error outcome skipped { kind count } }
    }`,
  ),
};

/** The operations that the graph supports, ready to run. */
export type PreparedOperations = ReadonlyMap<StoredOperation<never, unknown>, PreparedOperation>;

/** Parses, validates and plans every operation; those that the graph does not support are left out. */
export function prepareOperations(executor: GraphExecutor): PreparedOperations {
  const prepared = new Map<StoredOperation<never, unknown>, PreparedOperation>();
  for (const stored of Object.values<StoredOperation<never, unknown>>(OPERATIONS)) {
    try {
      const ready = executor.prepare(stored.source);
      executor.warm(ready);
      prepared.set(stored, ready);
    } catch (error) {
      if (!(error instanceof InvalidOperation)) throw error;
    }
  }
  return prepared;
}
