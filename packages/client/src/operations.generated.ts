import type { Document } from './document.ts';

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

/** What happened to a task. */
export type TaskChangeKind =
  /** It was deleted. */
  | 'DELETE'
  /** It was created. */
  | 'INSERT'
  /** One or more of its fields were written. */
  | 'UPDATE';

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

export type TaskFieldsFragment = { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string, version: number };

export type ReadTasksQueryVariables = Exact<{
  filter?: TaskFilter | null | undefined;
  orderBy?: TaskOrder | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ReadTasksQuery = { tasks: { totalCount: number, changesCursor: string, edges: Array<{ node: { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string, version: number } }>, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type ReadTaskQueryVariables = Exact<{
  id: string;
}>;


export type ReadTaskQuery = { task: { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string, version: number } | null };

export type ReadTaskStatisticsQueryVariables = Exact<{ [key: string]: never; }>;


export type ReadTaskStatisticsQuery = { taskStatistics: { total: number, completed: number, pending: number, completionPercentage: number } };

export type CreateTaskMutationVariables = Exact<{
  input: CreateTaskInput;
  idempotencyKey?: string | null | undefined;
}>;


export type CreateTaskMutation = { createTask: { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string, version: number } };

export type UpdateTaskMutationVariables = Exact<{
  id: string;
  input: UpdateTaskInput;
  ifVersion?: number | null | undefined;
}>;


export type UpdateTaskMutation = { updateTask: { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string, version: number } };

export type DeleteTaskMutationVariables = Exact<{
  id: string;
  ifVersion?: number | null | undefined;
}>;


export type DeleteTaskMutation = { deleteTask: string };

export type TaskChangesSubscriptionVariables = Exact<{
  filter?: TaskFilter | null | undefined;
  after?: string | null | undefined;
}>;


export type TaskChangesSubscription = { taskChanges: { cursor: string, sequence: number, kind: TaskChangeKind, task: { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string, version: number }, previous: { id: string, title: string, description: string | null, completed: boolean, dueDate: string | null, category: string | null, priority: TaskPriority, createdAt: string, updatedAt: string, version: number } | null } };

export type UserFieldsFragment = { id: string, email: string, name: string };

export type SessionFieldsFragment = { accessToken: string, refreshToken: string, expiresIn: number, user: { id: string, email: string, name: string } };

export type SignUpMutationVariables = Exact<{
  input: SignUpInput;
}>;


export type SignUpMutation = { signUp: { accessToken: string, refreshToken: string, expiresIn: number, user: { id: string, email: string, name: string } } };

export type LoginMutationVariables = Exact<{
  input: LoginInput;
}>;


export type LoginMutation = { login: { accessToken: string, refreshToken: string, expiresIn: number, user: { id: string, email: string, name: string } } };

export type RefreshSessionMutationVariables = Exact<{
  refreshToken: string;
}>;


export type RefreshSessionMutation = { refreshSession: { accessToken: string, refreshToken: string, expiresIn: number, user: { id: string, email: string, name: string } } };

export type LogoutMutationVariables = Exact<{ [key: string]: never; }>;


export type LogoutMutation = { logout: boolean };

export type RequestPasswordResetMutationVariables = Exact<{
  email: string;
}>;


export type RequestPasswordResetMutation = { requestPasswordReset: boolean };

export type ResetPasswordMutationVariables = Exact<{
  input: ResetPasswordInput;
}>;


export type ResetPasswordMutation = { resetPassword: boolean };

export type SignInProviderQueryVariables = Exact<{ [key: string]: never; }>;


export type SignInProviderQuery = { signInProvider: { name: string } | null };

export type SignInWithCodeMutationVariables = Exact<{
  input: SignInWithCodeInput;
}>;


export type SignInWithCodeMutation = { signInWithCode: { accessToken: string, refreshToken: string, expiresIn: number, user: { id: string, email: string, name: string } } };

export type LinkedIdentitiesQueryVariables = Exact<{ [key: string]: never; }>;


export type LinkedIdentitiesQuery = { linkedIdentities: Array<{ id: string, issuer: string, email: string, createdAt: string, lastUsedAt: string }> };

export type LinkedIdentityFieldsFragment = { id: string, issuer: string, email: string, createdAt: string, lastUsedAt: string };

export type LinkIdentityMutationVariables = Exact<{
  input: LinkIdentityInput;
}>;


export type LinkIdentityMutation = { linkIdentity: { id: string, issuer: string, email: string, createdAt: string, lastUsedAt: string } };

export type UnlinkIdentityMutationVariables = Exact<{
  id: string;
}>;


export type UnlinkIdentityMutation = { unlinkIdentity: string };

export type ReadProfileQueryVariables = Exact<{ [key: string]: never; }>;


export type ReadProfileQuery = { me: { emailConfirmedAt: string, id: string, email: string, name: string } };

export type ChangeNameMutationVariables = Exact<{
  name: string;
}>;


export type ChangeNameMutation = { changeName: { id: string, email: string, name: string } };

export type ChangePasswordMutationVariables = Exact<{
  input: ChangePasswordInput;
}>;


export type ChangePasswordMutation = { changePassword: boolean };

export type RequestEmailChangeMutationVariables = Exact<{
  input: ChangeEmailInput;
}>;


export type RequestEmailChangeMutation = { requestEmailChange: boolean };

export type ConfirmEmailChangeMutationVariables = Exact<{
  token: string;
  password?: string | null | undefined;
}>;


export type ConfirmEmailChangeMutation = { confirmEmailChange: boolean };

export type DeleteAccountMutationVariables = Exact<{
  input: DeleteAccountInput;
}>;


export type DeleteAccountMutation = { deleteAccount: boolean };

export type ReadSessionsQueryVariables = Exact<{ [key: string]: never; }>;


export type ReadSessionsQuery = { sessions: Array<{ id: string, createdAt: string, lastUsedAt: string, ip: string | null, client: string | null, current: boolean }> };

export type EndSessionMutationVariables = Exact<{
  id: string;
}>;


export type EndSessionMutation = { endSession: string };

export type EndOtherSessionsMutationVariables = Exact<{ [key: string]: never; }>;


export type EndOtherSessionsMutation = { endOtherSessions: number };

export type PersonalTokenFieldsFragment = { id: string, name: string, scope: TokenScope, createdAt: string, expiresAt: string, lastUsedAt: string | null };

export type ReadPersonalTokensQueryVariables = Exact<{ [key: string]: never; }>;


export type ReadPersonalTokensQuery = { personalTokens: Array<{ id: string, name: string, scope: TokenScope, createdAt: string, expiresAt: string, lastUsedAt: string | null }> };

export type CreatePersonalTokenMutationVariables = Exact<{
  input: CreatePersonalTokenInput;
}>;


export type CreatePersonalTokenMutation = { createPersonalToken: { token: string, personalToken: { id: string, name: string, scope: TokenScope, createdAt: string, expiresAt: string, lastUsedAt: string | null } } };

export type EndPersonalTokenMutationVariables = Exact<{
  id: string;
}>;


export type EndPersonalTokenMutation = { endPersonalToken: string };

export type ReadAuditEntriesQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
}>;


export type ReadAuditEntriesQuery = { auditEntries: Array<{ id: string, at: string, kind: string, sessionId: string | null, ip: string | null }> };

export const SIGN_UP: Document<SignUpMutation, SignUpMutationVariables> = "mutation SignUp($input:SignUpInput!){signUp(input:$input){...SessionFields}}fragment SessionFields on Session{accessToken refreshToken expiresIn user{...UserFields}}fragment UserFields on User{id email name}";
export const LOGIN: Document<LoginMutation, LoginMutationVariables> = "mutation Login($input:LoginInput!){login(input:$input){...SessionFields}}fragment SessionFields on Session{accessToken refreshToken expiresIn user{...UserFields}}fragment UserFields on User{id email name}";
export const REFRESH_SESSION: Document<RefreshSessionMutation, RefreshSessionMutationVariables> = "mutation RefreshSession($refreshToken:String!){refreshSession(refreshToken:$refreshToken){...SessionFields}}fragment SessionFields on Session{accessToken refreshToken expiresIn user{...UserFields}}fragment UserFields on User{id email name}";
export const LOGOUT: Document<LogoutMutation, LogoutMutationVariables> = "mutation Logout{logout}";
export const REQUEST_PASSWORD_RESET: Document<RequestPasswordResetMutation, RequestPasswordResetMutationVariables> = "mutation RequestPasswordReset($email:String!){requestPasswordReset(email:$email)}";
export const RESET_PASSWORD: Document<ResetPasswordMutation, ResetPasswordMutationVariables> = "mutation ResetPassword($input:ResetPasswordInput!){resetPassword(input:$input)}";
export const SIGN_IN_PROVIDER: Document<SignInProviderQuery, SignInProviderQueryVariables> = "query SignInProvider{signInProvider{name}}";
export const SIGN_IN_WITH_CODE: Document<SignInWithCodeMutation, SignInWithCodeMutationVariables> = "mutation SignInWithCode($input:SignInWithCodeInput!){signInWithCode(input:$input){...SessionFields}}fragment SessionFields on Session{accessToken refreshToken expiresIn user{...UserFields}}fragment UserFields on User{id email name}";
export const LINKED_IDENTITIES: Document<LinkedIdentitiesQuery, LinkedIdentitiesQueryVariables> = "query LinkedIdentities{linkedIdentities{...LinkedIdentityFields}}fragment LinkedIdentityFields on LinkedIdentity{id issuer email createdAt lastUsedAt}";
export const LINK_IDENTITY: Document<LinkIdentityMutation, LinkIdentityMutationVariables> = "mutation LinkIdentity($input:LinkIdentityInput!){linkIdentity(input:$input){...LinkedIdentityFields}}fragment LinkedIdentityFields on LinkedIdentity{id issuer email createdAt lastUsedAt}";
export const UNLINK_IDENTITY: Document<UnlinkIdentityMutation, UnlinkIdentityMutationVariables> = "mutation UnlinkIdentity($id:ID!){unlinkIdentity(id:$id)}";
export const READ_PROFILE: Document<ReadProfileQuery, ReadProfileQueryVariables> = "query ReadProfile{me{...UserFields emailConfirmedAt}}fragment UserFields on User{id email name}";
export const CHANGE_NAME: Document<ChangeNameMutation, ChangeNameMutationVariables> = "mutation ChangeName($name:String!){changeName(name:$name){...UserFields}}fragment UserFields on User{id email name}";
export const CHANGE_PASSWORD: Document<ChangePasswordMutation, ChangePasswordMutationVariables> = "mutation ChangePassword($input:ChangePasswordInput!){changePassword(input:$input)}";
export const REQUEST_EMAIL_CHANGE: Document<RequestEmailChangeMutation, RequestEmailChangeMutationVariables> = "mutation RequestEmailChange($input:ChangeEmailInput!){requestEmailChange(input:$input)}";
export const CONFIRM_EMAIL_CHANGE: Document<ConfirmEmailChangeMutation, ConfirmEmailChangeMutationVariables> = "mutation ConfirmEmailChange($token:String!$password:String){confirmEmailChange(token:$token password:$password)}";
export const DELETE_ACCOUNT: Document<DeleteAccountMutation, DeleteAccountMutationVariables> = "mutation DeleteAccount($input:DeleteAccountInput!){deleteAccount(input:$input)}";
export const READ_SESSIONS: Document<ReadSessionsQuery, ReadSessionsQueryVariables> = "query ReadSessions{sessions{id createdAt lastUsedAt ip client current}}";
export const END_SESSION: Document<EndSessionMutation, EndSessionMutationVariables> = "mutation EndSession($id:ID!){endSession(id:$id)}";
export const END_OTHER_SESSIONS: Document<EndOtherSessionsMutation, EndOtherSessionsMutationVariables> = "mutation EndOtherSessions{endOtherSessions}";
export const READ_PERSONAL_TOKENS: Document<ReadPersonalTokensQuery, ReadPersonalTokensQueryVariables> = "query ReadPersonalTokens{personalTokens{...PersonalTokenFields}}fragment PersonalTokenFields on PersonalToken{id name scope createdAt expiresAt lastUsedAt}";
export const CREATE_PERSONAL_TOKEN: Document<CreatePersonalTokenMutation, CreatePersonalTokenMutationVariables> = "mutation CreatePersonalToken($input:CreatePersonalTokenInput!){createPersonalToken(input:$input){token personalToken{...PersonalTokenFields}}}fragment PersonalTokenFields on PersonalToken{id name scope createdAt expiresAt lastUsedAt}";
export const END_PERSONAL_TOKEN: Document<EndPersonalTokenMutation, EndPersonalTokenMutationVariables> = "mutation EndPersonalToken($id:ID!){endPersonalToken(id:$id)}";
export const READ_AUDIT_ENTRIES: Document<ReadAuditEntriesQuery, ReadAuditEntriesQueryVariables> = "query ReadAuditEntries($first:Int$after:ID){auditEntries(first:$first after:$after){id at kind sessionId ip}}";
export const READ_TASKS: Document<ReadTasksQuery, ReadTasksQueryVariables> = "query ReadTasks($filter:TaskFilter$orderBy:TaskOrder$first:Int$after:String){tasks(filter:$filter orderBy:$orderBy first:$first after:$after){edges{node{...TaskFields}}pageInfo{hasNextPage endCursor}totalCount changesCursor}}fragment TaskFields on Task{id title description completed dueDate category priority createdAt updatedAt version}";
export const READ_TASK: Document<ReadTaskQuery, ReadTaskQueryVariables> = "query ReadTask($id:ID!){task(id:$id){...TaskFields}}fragment TaskFields on Task{id title description completed dueDate category priority createdAt updatedAt version}";
export const READ_TASK_STATISTICS: Document<ReadTaskStatisticsQuery, ReadTaskStatisticsQueryVariables> = "query ReadTaskStatistics{taskStatistics{total completed pending completionPercentage}}";
export const CREATE_TASK: Document<CreateTaskMutation, CreateTaskMutationVariables> = "mutation CreateTask($input:CreateTaskInput!$idempotencyKey:String){createTask(input:$input idempotencyKey:$idempotencyKey){...TaskFields}}fragment TaskFields on Task{id title description completed dueDate category priority createdAt updatedAt version}";
export const UPDATE_TASK: Document<UpdateTaskMutation, UpdateTaskMutationVariables> = "mutation UpdateTask($id:ID!$input:UpdateTaskInput!$ifVersion:Int){updateTask(id:$id input:$input ifVersion:$ifVersion){...TaskFields}}fragment TaskFields on Task{id title description completed dueDate category priority createdAt updatedAt version}";
export const DELETE_TASK: Document<DeleteTaskMutation, DeleteTaskMutationVariables> = "mutation DeleteTask($id:ID!$ifVersion:Int){deleteTask(id:$id ifVersion:$ifVersion)}";
export const TASK_CHANGES: Document<TaskChangesSubscription, TaskChangesSubscriptionVariables> = "subscription TaskChanges($filter:TaskFilter$after:String){taskChanges(filter:$filter after:$after){cursor sequence kind task{...TaskFields}previous{...TaskFields}}}fragment TaskFields on Task{id title description completed dueDate category priority createdAt updatedAt version}";
