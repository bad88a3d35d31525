import type { StoredOperation } from './endpoint.ts';

/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
/** A new address for the caller's account. */
export type ChangeEmailInput = {
  /** The new address. */
  email: string;
  /** The account's password. */
  password: string;
};

/** The present and the new password of the caller's account. */
export type ChangePasswordInput = {
  /** The present password. A wrong one counts as a failed login. */
  currentPassword: string;
  /** The rules are those of `SignUpInput`. */
  newPassword: string;
};

/** A token to create for a program. */
export type CreatePersonalTokenInput = {
  /** At most 366 days from now. */
  expiresAt: string;
  /** A name to recognise it by: 1 to 255 characters. */
  name: string;
  /** What it may do. */
  scope: TokenScope;
};

/** Lengths are counted in Unicode code points. */
export type CreateTaskInput = {
  /** At most 255 characters. */
  category?: string | null | undefined;
  /** False by default. */
  completed?: boolean | null | undefined;
  /** At most 2,000 characters. */
  description?: string | null | undefined;
  /** Any RFC 3339 timestamp of the years 0001 to 9999; answers have it in UTC. */
  dueDate?: string | null | undefined;
  /** MEDIUM by default. */
  priority?: TaskPriority | null | undefined;
  /** 3 to 255 characters, not all of them blank. */
  title: string;
};

/** Confirms that the caller means it. */
export type DeleteAccountInput = {
  /** The account's password. */
  password: string;
};

/** What the browser brought back from the provider, and the caller's password. */
export type LinkIdentityInput = {
  /** As in `SignInWithCodeInput`, but at most 10 minutes old. */
  code: string;
  /** The account's password. */
  password: string;
  /** The secret that the challenge was derived from. */
  verifier: string;
};

/** An account's address and password. */
export type LoginInput = {
  /** In upper or lower case. */
  email: string;
  /** At most 1,024 characters. */
  password: string;
};

/** Which end of a list comes first. */
export type OrderDirection =
  /** Smallest or oldest first. */
  | 'ASC'
  /** Largest or newest first. */
  | 'DESC';

/** A new password for an account whose password is lost. */
export type ResetPasswordInput = {
  /** The rules are those of `SignUpInput`. A rejected password leaves the token valid. */
  newPassword: string;
  /** The token from the recovery mail, valid once and for 30 minutes. */
  token: string;
};

/** How a restore ended. */
export type RestoreOutcome =
  /** Another restore is running. This one has changed nothing. */
  | 'BUSY'
  /** The archive is corrupt, malicious, or exceeds a limit. */
  | 'EXTRACTION_FAILED'
  /** It failed for another reason, which `error` gives. The databases are unchanged. */
  | 'FAILED'
  /** No file name was given. */
  | 'FILE_MISSING'
  /** There is no archive of that name. */
  | 'FILE_NOT_FOUND'
  /** The file name points outside the backup storage. */
  | 'FILE_OUTSIDE'
  /** The replaced databases of the last restore are no longer kept. */
  | 'NOTHING_TO_UNDO'
  /** The last restore is not the one that was to be undone. Nothing has changed. */
  | 'OTHER_RESTORE'
  /** The archive was valid, but the databases are unchanged. */
  | 'PROCESSED'
  /** The databases have been replaced by those of the archive. */
  | 'RESTORED'
  /** As RESTORED, but some leftovers could not be removed yet. This is harmless and will be retried. */
  | 'RESTORED_CLEAN_UP_PENDING'
  /** A server was lost during the swap: it is not yet known whether the databases were replaced. Either all of them will be, or none. */
  | 'UNKNOWN';

/** What the browser brought back from the provider. */
export type SignInWithCodeInput = {
  /** `sign_in_code` from the fragment with which the browser returned, at most a minute ago. */
  code: string;
  /** After LINK_REQUIRED: the password of the account to link. */
  password?: string | null | undefined;
  /** The secret that the challenge was derived from. */
  verifier: string;
};

/** What an account begins with. */
export type SignUpInput = {
  /** At most 254 characters; unique, ignoring case. */
  email: string;
  /** The name to show: 1 to 255 characters after trimming. */
  name: string;
  /** 8 to 128 characters (an installation may require more than 8); common passwords are rejected. */
  password: string;
};

/** A task has to match every field; an absent field or null matches all tasks. */
export type TaskFilter = {
  /** Exactly this category: upper and lower case differ, and the empty text is a category of its own. */
  category?: string | null | undefined;
  /** Completed tasks only, or pending ones only. */
  completed?: boolean | null | undefined;
  /** Exactly this priority. */
  priority?: TaskPriority | null | undefined;
};

/** How a list is sorted. */
export type TaskOrder = {
  /** Which end comes first. */
  direction?: OrderDirection;
  /** What it is sorted by. */
  field?: TaskOrderField;
};

/** Among tasks that are equal in it, age decides, and then the id; both in the same direction. */
export type TaskOrderField =
  /** By the time of creation. */
  | 'CREATED_AT'
  /** Tasks without a due date come last in either direction. */
  | 'DUE_DATE'
  /** By importance: LOW, MEDIUM, HIGH. */
  | 'PRIORITY'
  /** By the time of the last change. */
  | 'UPDATED_AT';

/** How important a task is. */
export type TaskPriority =
  /** More important than usual. */
  | 'HIGH'
  /** Less important than usual. */
  | 'LOW'
  /** The default. */
  | 'MEDIUM';

/** What a personal token may do. */
export type TokenScope =
  /** Queries and subscriptions. */
  | 'READ'
  /** Also mutations, except those that require a session. */
  | 'WRITE';

/** Absent fields stay unchanged; null clears description, dueDate or category. The limits are those of `CreateTaskInput`. */
export type UpdateTaskInput = {
  /** Null clears it. */
  category?: string | null | undefined;
  /** Null is rejected. */
  completed?: boolean | null | undefined;
  /** Null clears it. */
  description?: string | null | undefined;
  /** Null clears it. */
  dueDate?: string | null | undefined;
  /** Null is rejected. */
  priority?: TaskPriority | null | undefined;
  /** Null is rejected. */
  title?: string | null | undefined;
};

export type TaskFragment = { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string };

export type ProfileFragment = { id: string, email: string, name: string, email_confirmed_at: string };

export type SessionFragment = { access_token: string, refresh_token?: string, user: { id: string, email: string, email_confirmed_at: string } };

export type OpenSessionFragment = { id: string, ip: string | null, client: string | null, current: boolean, created_at: string, last_used_at: string };

export type PersonalTokenFragment = { id: string, name: string, scope: TokenScope, created_at: string, expires_at: string, last_used_at: string | null };

export type LinkedIdentityFragment = { id: string, issuer: string, email: string, created_at: string, last_used_at: string };

export type AuditEntryFragment = { id: string, at: string, kind: string, ip: string | null, session_id: string | null };

export type RestSignUpMutationVariables = Exact<{
  input: SignUpInput;
  refresh: boolean;
}>;


export type RestSignUpMutation = { session: { access_token: string, refresh_token?: string, user: { id: string, email: string, email_confirmed_at: string } } };

export type RestLoginMutationVariables = Exact<{
  input: LoginInput;
  refresh: boolean;
}>;


export type RestLoginMutation = { session: { access_token: string, refresh_token?: string, user: { id: string, email: string, email_confirmed_at: string } } };

export type RestRefreshSessionMutationVariables = Exact<{
  refreshToken: string;
}>;


export type RestRefreshSessionMutation = { session: { access_token: string, refresh_token: string, expires_in: number } };

export type RestLogoutMutationVariables = Exact<{ [key: string]: never; }>;


export type RestLogoutMutation = { logout: boolean };

export type RestSessionsQueryVariables = Exact<{ [key: string]: never; }>;


export type RestSessionsQuery = { sessions: Array<{ id: string, ip: string | null, client: string | null, current: boolean, created_at: string, last_used_at: string }> };

export type RestEndSessionMutationVariables = Exact<{
  id: string;
}>;


export type RestEndSessionMutation = { endSession: string };

export type RestEndOtherSessionsMutationVariables = Exact<{ [key: string]: never; }>;


export type RestEndOtherSessionsMutation = { endOtherSessions: number };

export type RestProfileQueryVariables = Exact<{ [key: string]: never; }>;


export type RestProfileQuery = { profile: { id: string, email: string, name: string, email_confirmed_at: string } };

export type RestChangeNameMutationVariables = Exact<{
  name: string;
}>;


export type RestChangeNameMutation = { profile: { id: string, email: string, name: string, email_confirmed_at: string } };

export type RestChangePasswordMutationVariables = Exact<{
  input: ChangePasswordInput;
}>;


export type RestChangePasswordMutation = { changePassword: boolean };

export type RestRequestEmailChangeMutationVariables = Exact<{
  input: ChangeEmailInput;
}>;


export type RestRequestEmailChangeMutation = { requestEmailChange: boolean };

export type RestConfirmEmailChangeMutationVariables = Exact<{
  token: string;
  password?: string | null | undefined;
}>;


export type RestConfirmEmailChangeMutation = { confirmEmailChange: boolean };

export type RestDeleteAccountMutationVariables = Exact<{
  input: DeleteAccountInput;
}>;


export type RestDeleteAccountMutation = { deleteAccount: boolean };

export type RestPersonalTokensQueryVariables = Exact<{ [key: string]: never; }>;


export type RestPersonalTokensQuery = { tokens: Array<{ id: string, name: string, scope: TokenScope, created_at: string, expires_at: string, last_used_at: string | null }> };

export type RestCreatePersonalTokenMutationVariables = Exact<{
  input: CreatePersonalTokenInput;
}>;


export type RestCreatePersonalTokenMutation = { created: { token: string, personalToken: { id: string, name: string, scope: TokenScope, created_at: string, expires_at: string, last_used_at: string | null } } };

export type RestEndPersonalTokenMutationVariables = Exact<{
  id: string;
}>;


export type RestEndPersonalTokenMutation = { endPersonalToken: string };

export type RestSignInProviderQueryVariables = Exact<{ [key: string]: never; }>;


export type RestSignInProviderQuery = { provider: { name: string } | null };

export type RestSignInWithCodeMutationVariables = Exact<{
  input: SignInWithCodeInput;
  refresh: boolean;
}>;


export type RestSignInWithCodeMutation = { session: { access_token: string, refresh_token?: string, user: { id: string, email: string, email_confirmed_at: string } } };

export type RestLinkedIdentitiesQueryVariables = Exact<{ [key: string]: never; }>;


export type RestLinkedIdentitiesQuery = { identities: Array<{ id: string, issuer: string, email: string, created_at: string, last_used_at: string }> };

export type RestLinkIdentityMutationVariables = Exact<{
  input: LinkIdentityInput;
}>;


export type RestLinkIdentityMutation = { identity: { id: string, issuer: string, email: string, created_at: string, last_used_at: string } };

export type RestUnlinkIdentityMutationVariables = Exact<{
  id: string;
}>;


export type RestUnlinkIdentityMutation = { unlinkIdentity: string };

export type RestAuditEntriesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type RestAuditEntriesQuery = { entries: Array<{ id: string, at: string, kind: string, ip: string | null, session_id: string | null }> };

export type RestExportTasksQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type RestExportTasksQuery = { tasks: { edges: Array<{ node: { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type RestRequestPasswordResetMutationVariables = Exact<{
  email: string;
}>;


export type RestRequestPasswordResetMutation = { requestPasswordReset: boolean };

export type RestResetPasswordMutationVariables = Exact<{
  input: ResetPasswordInput;
}>;


export type RestResetPasswordMutation = { resetPassword: boolean };

export type RestCreateTaskMutationVariables = Exact<{
  input: CreateTaskInput;
  idempotencyKey?: string | null | undefined;
}>;


export type RestCreateTaskMutation = { task: { version: number, id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string } };

export type RestUpdateTaskMutationVariables = Exact<{
  id: string;
  input: UpdateTaskInput;
  ifVersion?: number | null | undefined;
}>;


export type RestUpdateTaskMutation = { task: { version: number, id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string } };

export type RestDeleteTaskMutationVariables = Exact<{
  id: string;
  ifVersion?: number | null | undefined;
}>;


export type RestDeleteTaskMutation = { deleteTask: string };

export type RestTaskQueryVariables = Exact<{
  id: string;
}>;


export type RestTaskQuery = { task: { version: number, id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string } | null };

export type RestTasksQueryVariables = Exact<{
  filter?: TaskFilter | null | undefined;
  orderBy?: TaskOrder | null | undefined;
  first?: number | null | undefined;
  offset?: number | null | undefined;
}>;


export type RestTasksQuery = { tasks: { edges: Array<{ node: { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string } }>, pageInfo: { hasNextPage: boolean } } };

export type RestTasksAndTotalQueryVariables = Exact<{
  filter?: TaskFilter | null | undefined;
  orderBy?: TaskOrder | null | undefined;
  first?: number | null | undefined;
  offset?: number | null | undefined;
}>;


export type RestTasksAndTotalQuery = { tasks: { totalCount: number, edges: Array<{ node: { id: string, title: string, description: string | null, completed: boolean, createdAt: string, updatedAt: string } }>, pageInfo: { hasNextPage: boolean } } };

export type RestTaskStatisticsQueryVariables = Exact<{ [key: string]: never; }>;


export type RestTaskStatisticsQuery = { taskStatistics: { total: number, completed: number, pending: number, completionPercentage: number } };

export type RestBackupsQueryVariables = Exact<{ [key: string]: never; }>;


export type RestBackupsQuery = { backups: Array<{ file: string, sizeBytes: number, sha256: string | null, createdAt: string, origin: string, stores: Array<string>, verifiedAt: string | null, verifiedVersion: string | null, unfitAt: string | null, unfitReason: string | null }> };

export type RestBackupQueryVariables = Exact<{
  file: string;
}>;


export type RestBackupQuery = { backup: { sizeBytes: number, sha256: string | null } | null };

export type RestDeleteBackupMutationVariables = Exact<{
  file: string;
}>;


export type RestDeleteBackupMutation = { deleteBackup: boolean };

export type RestUndoableRestoreQueryVariables = Exact<{ [key: string]: never; }>;


export type RestUndoableRestoreQuery = { undoable: { file: string, stores: Array<string>, isUndo: boolean, restoredAt: string, keptUntil: string, replacedKeptMs: number } | null };

export type RestNewEpochMutationVariables = Exact<{
  atLeast?: number | null | undefined;
}>;


export type RestNewEpochMutation = { begun: { epoch: number } };

export type RestRestoreBackupMutationVariables = Exact<{
  file: string;
}>;


export type RestRestoreBackupMutation = { restore: { success: boolean, message: string, error: string | null, outcome: RestoreOutcome, skipped: Array<{ kind: string, count: number }> } };

export const signUp: StoredOperation<RestSignUpMutation, RestSignUpMutationVariables> = "mutation RestSignUp($input:SignUpInput!$refresh:Boolean!){session:signUp(input:$input){access_token:accessToken refresh_token:refreshToken@include(if:$refresh)user{id email email_confirmed_at:emailConfirmedAt}}}";
export const login: StoredOperation<RestLoginMutation, RestLoginMutationVariables> = "mutation RestLogin($input:LoginInput!$refresh:Boolean!){session:login(input:$input){access_token:accessToken refresh_token:refreshToken@include(if:$refresh)user{id email email_confirmed_at:emailConfirmedAt}}}";
export const refreshSession: StoredOperation<RestRefreshSessionMutation, RestRefreshSessionMutationVariables> = "mutation RestRefreshSession($refreshToken:String!){session:refreshSession(refreshToken:$refreshToken){access_token:accessToken refresh_token:refreshToken expires_in:expiresIn}}";
export const logout: StoredOperation<RestLogoutMutation, RestLogoutMutationVariables> = "mutation RestLogout{logout}";
export const sessions: StoredOperation<RestSessionsQuery, RestSessionsQueryVariables> = "query RestSessions{sessions{id created_at:createdAt last_used_at:lastUsedAt ip client current}}";
export const endSession: StoredOperation<RestEndSessionMutation, RestEndSessionMutationVariables> = "mutation RestEndSession($id:ID!){endSession(id:$id)}";
export const endOtherSessions: StoredOperation<RestEndOtherSessionsMutation, RestEndOtherSessionsMutationVariables> = "mutation RestEndOtherSessions{endOtherSessions}";
export const profile: StoredOperation<RestProfileQuery, RestProfileQueryVariables> = "query RestProfile{profile:me{id email name email_confirmed_at:emailConfirmedAt}}";
export const changeName: StoredOperation<RestChangeNameMutation, RestChangeNameMutationVariables> = "mutation RestChangeName($name:String!){profile:changeName(name:$name){id email name email_confirmed_at:emailConfirmedAt}}";
export const changePassword: StoredOperation<RestChangePasswordMutation, RestChangePasswordMutationVariables> = "mutation RestChangePassword($input:ChangePasswordInput!){changePassword(input:$input)}";
export const requestEmailChange: StoredOperation<RestRequestEmailChangeMutation, RestRequestEmailChangeMutationVariables> = "mutation RestRequestEmailChange($input:ChangeEmailInput!){requestEmailChange(input:$input)}";
export const confirmEmailChange: StoredOperation<RestConfirmEmailChangeMutation, RestConfirmEmailChangeMutationVariables> = "mutation RestConfirmEmailChange($token:String!$password:String){confirmEmailChange(token:$token password:$password)}";
export const deleteAccount: StoredOperation<RestDeleteAccountMutation, RestDeleteAccountMutationVariables> = "mutation RestDeleteAccount($input:DeleteAccountInput!){deleteAccount(input:$input)}";
export const personalTokens: StoredOperation<RestPersonalTokensQuery, RestPersonalTokensQueryVariables> = "query RestPersonalTokens{tokens:personalTokens{id name scope created_at:createdAt expires_at:expiresAt last_used_at:lastUsedAt}}";
export const createPersonalToken: StoredOperation<RestCreatePersonalTokenMutation, RestCreatePersonalTokenMutationVariables> = "mutation RestCreatePersonalToken($input:CreatePersonalTokenInput!){created:createPersonalToken(input:$input){token personalToken{id name scope created_at:createdAt expires_at:expiresAt last_used_at:lastUsedAt}}}";
export const endPersonalToken: StoredOperation<RestEndPersonalTokenMutation, RestEndPersonalTokenMutationVariables> = "mutation RestEndPersonalToken($id:ID!){endPersonalToken(id:$id)}";
export const signInProvider: StoredOperation<RestSignInProviderQuery, RestSignInProviderQueryVariables> = "query RestSignInProvider{provider:signInProvider{name}}";
export const signInWithCode: StoredOperation<RestSignInWithCodeMutation, RestSignInWithCodeMutationVariables> = "mutation RestSignInWithCode($input:SignInWithCodeInput!$refresh:Boolean!){session:signInWithCode(input:$input){access_token:accessToken refresh_token:refreshToken@include(if:$refresh)user{id email email_confirmed_at:emailConfirmedAt}}}";
export const linkedIdentities: StoredOperation<RestLinkedIdentitiesQuery, RestLinkedIdentitiesQueryVariables> = "query RestLinkedIdentities{identities:linkedIdentities{id issuer email created_at:createdAt last_used_at:lastUsedAt}}";
export const linkIdentity: StoredOperation<RestLinkIdentityMutation, RestLinkIdentityMutationVariables> = "mutation RestLinkIdentity($input:LinkIdentityInput!){identity:linkIdentity(input:$input){id issuer email created_at:createdAt last_used_at:lastUsedAt}}";
export const unlinkIdentity: StoredOperation<RestUnlinkIdentityMutation, RestUnlinkIdentityMutationVariables> = "mutation RestUnlinkIdentity($id:ID!){unlinkIdentity(id:$id)}";
export const auditEntries: StoredOperation<RestAuditEntriesQuery, RestAuditEntriesQueryVariables> = "query RestAuditEntries($first:Int$after:ID){entries:auditEntries(first:$first after:$after){id at kind session_id:sessionId ip}}";
export const exportTasks: StoredOperation<RestExportTasksQuery, RestExportTasksQueryVariables> = "query RestExportTasks($first:Int$after:String){tasks(first:$first after:$after orderBy:{field:CREATED_AT direction:ASC}){edges{node{id title description completed dueDate category priority createdAt updatedAt}}pageInfo{hasNextPage endCursor}}}";
export const requestPasswordReset: StoredOperation<RestRequestPasswordResetMutation, RestRequestPasswordResetMutationVariables> = "mutation RestRequestPasswordReset($email:String!){requestPasswordReset(email:$email)}";
export const resetPassword: StoredOperation<RestResetPasswordMutation, RestResetPasswordMutationVariables> = "mutation RestResetPassword($input:ResetPasswordInput!){resetPassword(input:$input)}";
export const createTask: StoredOperation<RestCreateTaskMutation, RestCreateTaskMutationVariables> = "mutation RestCreateTask($input:CreateTaskInput!$idempotencyKey:String){task:createTask(input:$input idempotencyKey:$idempotencyKey){id title description completed dueDate category priority createdAt updatedAt version}}";
export const updateTask: StoredOperation<RestUpdateTaskMutation, RestUpdateTaskMutationVariables> = "mutation RestUpdateTask($id:ID!$input:UpdateTaskInput!$ifVersion:Int){task:updateTask(id:$id input:$input ifVersion:$ifVersion){id title description completed dueDate category priority createdAt updatedAt version}}";
export const deleteTask: StoredOperation<RestDeleteTaskMutation, RestDeleteTaskMutationVariables> = "mutation RestDeleteTask($id:ID!$ifVersion:Int){deleteTask(id:$id ifVersion:$ifVersion)}";
export const task: StoredOperation<RestTaskQuery, RestTaskQueryVariables> = "query RestTask($id:ID!){task(id:$id){id title description completed dueDate category priority createdAt updatedAt version}}";
export const tasks: StoredOperation<RestTasksQuery, RestTasksQueryVariables> = "query RestTasks($filter:TaskFilter$orderBy:TaskOrder$first:Int$offset:Int){tasks(filter:$filter orderBy:$orderBy first:$first offset:$offset){edges{node{id title description completed dueDate category priority createdAt updatedAt}}pageInfo{hasNextPage}}}";
export const tasksAndTotal: StoredOperation<RestTasksAndTotalQuery, RestTasksAndTotalQueryVariables> = "query RestTasksAndTotal($filter:TaskFilter$orderBy:TaskOrder$first:Int$offset:Int){tasks(filter:$filter orderBy:$orderBy first:$first offset:$offset){edges{node{id title description completed createdAt updatedAt}}pageInfo{hasNextPage}totalCount}}";
export const taskStatistics: StoredOperation<RestTaskStatisticsQuery, RestTaskStatisticsQueryVariables> = "query RestTaskStatistics{taskStatistics{total completed pending completionPercentage}}";
export const backups: StoredOperation<RestBackupsQuery, RestBackupsQueryVariables> = "query RestBackups{backups{file sizeBytes sha256 createdAt origin stores verifiedAt verifiedVersion unfitAt unfitReason}}";
export const backup: StoredOperation<RestBackupQuery, RestBackupQueryVariables> = "query RestBackup($file:String!){backup(file:$file){sizeBytes sha256}}";
export const deleteBackup: StoredOperation<RestDeleteBackupMutation, RestDeleteBackupMutationVariables> = "mutation RestDeleteBackup($file:String!){deleteBackup(file:$file)}";
export const undoableRestore: StoredOperation<RestUndoableRestoreQuery, RestUndoableRestoreQueryVariables> = "query RestUndoableRestore{undoable:undoableRestore{file stores isUndo restoredAt keptUntil replacedKeptMs}}";
export const newEpoch: StoredOperation<RestNewEpochMutation, RestNewEpochMutationVariables> = "mutation RestNewEpoch($atLeast:Int){begun:newEpoch(atLeast:$atLeast){epoch}}";
export const restoreBackup: StoredOperation<RestRestoreBackupMutation, RestRestoreBackupMutationVariables> = "mutation RestRestoreBackup($file:String!){restore:restoreBackup(file:$file){success message error outcome skipped{kind count}}}";
