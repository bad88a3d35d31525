import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Priority } from '@taskmesh/contracts';
import type { Task as TaskRow, TaskOwner } from '../tasks/task.entities.ts';
import type { TaskPage, TaskListEdge } from '../tasks/task-order.ts';
import type { SubgraphContext } from '@taskmesh/internal-api';
export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
export type EnumResolverSignature<T, AllowedValues = any> = { [key in keyof T]?: AllowedValues };
/** All built-in and custom scalars, mapped to their actual values */
export type Scalars = {
  ID: { input: string; output: string; }
  String: { input: string; output: string; }
  Boolean: { input: boolean; output: boolean; }
  Int: { input: number; output: number; }
  Float: { input: number; output: number; }
  /** RFC 3339 timestamp in UTC with milliseconds, e.g. 2026-11-20T10:00:00.000Z */
  DateTime: { input: unknown; output: string; }
  _FieldSet: { input: unknown; output: unknown; }
};

/** Lengths are counted in Unicode code points. */
export type CreateTaskInput = {
  /** At most 255 characters. */
  category?: InputMaybe<Scalars['String']['input']>;
  /** False by default. */
  completed?: InputMaybe<Scalars['Boolean']['input']>;
  /** At most 2,000 characters. */
  description?: InputMaybe<Scalars['String']['input']>;
  /** Any RFC 3339 timestamp of the years 0001 to 9999; answers have it in UTC. */
  dueDate?: InputMaybe<Scalars['DateTime']['input']>;
  /** MEDIUM by default. */
  priority?: InputMaybe<TaskPriority>;
  /** 3 to 255 characters, not all of them blank. */
  title: Scalars['String']['input'];
};

export type Mutation = {
  __typename?: 'Mutation';
  /**
   * Creates a task. With `idempotencyKey` (1 to 255 printable ASCII characters, kept for 24 hours), a repeated call returns the task as the first
   * call created it. BAD_USER_INPUT if the input differs from the first call's, CONFLICT while the first call is still running
   * or if the caller has as many tasks as allowed.
   */
  createTask: Task;
  /** Deletes a task. Returns the id of the deleted task. Fails as `updateTask` does. */
  deleteTask: Scalars['ID']['output'];
  /** Changes the given fields of a task. NOT_FOUND if the task does not exist or is not the caller's; PRECONDITION_FAILED if its version is not `ifVersion`. */
  updateTask: Task;
};


export type MutationCreateTaskArgs = {
  idempotencyKey?: InputMaybe<Scalars['String']['input']>;
  input: CreateTaskInput;
};


export type MutationDeleteTaskArgs = {
  id: Scalars['ID']['input'];
  ifVersion?: InputMaybe<Scalars['Int']['input']>;
};


export type MutationUpdateTaskArgs = {
  id: Scalars['ID']['input'];
  ifVersion?: InputMaybe<Scalars['Int']['input']>;
  input: UpdateTaskInput;
};

/** Which end of a list comes first. */
export type OrderDirection =
  /** Smallest or oldest first. */
  | 'ASC'
  /** Largest or newest first. */
  | 'DESC';

/** Where a page is in its list. */
export type PageInfo = {
  __typename?: 'PageInfo';
  /** The cursor of the last task, for `after`; null if the page is empty. */
  endCursor?: Maybe<Scalars['String']['output']>;
  /** Whether there are tasks after this page. */
  hasNextPage: Scalars['Boolean']['output'];
  /** Whether there are tasks before this page. */
  hasPreviousPage: Scalars['Boolean']['output'];
  /** The cursor of the first task; null if the page is empty. */
  startCursor?: Maybe<Scalars['String']['output']>;
};

export type Query = {
  __typename?: 'Query';
  /** Null if the task does not exist or is not the caller's. */
  task?: Maybe<Task>;
  /** The caller's tasks, counted. */
  taskStatistics: TaskStatistics;
  /** The caller's tasks, newest first unless `orderBy` says otherwise. `after` is the cursor of an edge, or `endCursor`. */
  tasks: TaskConnection;
};


export type QueryTaskArgs = {
  id: Scalars['ID']['input'];
};


export type QueryTasksArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<TaskFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  offset?: InputMaybe<Scalars['Int']['input']>;
  orderBy?: InputMaybe<TaskOrder>;
};

export type Subscription = {
  __typename?: 'Subscription';
  /**
   * The caller's changes, in order, each exactly once per subscription. With `after`, it starts with everything after that
   * cursor and continues live without a gap. If the changes after the cursor are no longer kept, the stream ends with the error
   * code CURSOR_EXPIRED: reload the list.
   */
  taskChanges: TaskChange;
};


export type SubscriptionTaskChangesArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<TaskFilter>;
};

/** A task of the caller. No other user can see it. */
export type Task = {
  __typename?: 'Task';
  /** A label of the user's own, at most 255 characters; null if there is none. */
  category?: Maybe<Scalars['String']['output']>;
  /** Whether it is done. */
  completed: Scalars['Boolean']['output'];
  /** When it was created. */
  createdAt: Scalars['DateTime']['output'];
  /** More about it, at most 2,000 characters; null if there is none. */
  description?: Maybe<Scalars['String']['output']>;
  /** When it has to be done, if ever. */
  dueDate?: Maybe<Scalars['DateTime']['output']>;
  /** A UUID; it never changes. */
  id: Scalars['ID']['output'];
  /** The user who created the task. */
  owner: User;
  /** How important it is. */
  priority: TaskPriority;
  /** What is to be done: 3 to 255 characters. */
  title: Scalars['String']['output'];
  /** When it was last changed; later with every change. */
  updatedAt: Scalars['DateTime']['output'];
  /** Increases by one with every change. */
  version: Scalars['Int']['output'];
};

/** A committed change to one of the caller's tasks. */
export type TaskChange = {
  __typename?: 'TaskChange';
  /** Opaque. Pass it as `after` to continue after this change. */
  cursor: Scalars['String']['output'];
  /** What happened to the task. */
  kind: TaskChangeKind;
  /** When the change was made. */
  occurredAt: Scalars['DateTime']['output'];
  /** The task before the change; null for INSERT. */
  previous?: Maybe<Task>;
  /** Numbers this owner's changes without gaps: 1, 2, 3 ... */
  sequence: Scalars['Int']['output'];
  /** The task after the change; for DELETE, its last state. */
  task: Task;
};

/** What happened to a task. */
export type TaskChangeKind =
  /** It was deleted. */
  | 'DELETE'
  /** It was created. */
  | 'INSERT'
  /** One or more of its fields were written. */
  | 'UPDATE';

/** A Relay connection. `first` is 1 to 1,000; `after` and `offset` cannot be combined. */
export type TaskConnection = {
  __typename?: 'TaskConnection';
  /** The position in the change feed at which this page was read. Pass it to `taskChanges` as `after` to miss nothing in between. */
  changesCursor: Scalars['String']['output'];
  /** The tasks of this page. */
  edges: Array<TaskEdge>;
  /** Where this page is in the list. */
  pageInfo: PageInfo;
  /** The number of tasks that match the filter, on all pages. */
  totalCount: Scalars['Int']['output'];
};

/** A task in a list. */
export type TaskEdge = {
  __typename?: 'TaskEdge';
  /** Opaque. Pass it as `after` to read the tasks after this one. It stays valid when the task is deleted. */
  cursor: Scalars['String']['output'];
  /** The task. */
  node: Task;
};

/** A task has to match every field; an absent field or null matches all tasks. */
export type TaskFilter = {
  /** Exactly this category: upper and lower case differ, and the empty text is a category of its own. */
  category?: InputMaybe<Scalars['String']['input']>;
  /** Completed tasks only, or pending ones only. */
  completed?: InputMaybe<Scalars['Boolean']['input']>;
  /** Exactly this priority. */
  priority?: InputMaybe<TaskPriority>;
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

/** The caller's tasks, counted. */
export type TaskStatistics = {
  __typename?: 'TaskStatistics';
  /** Those that are done. */
  completed: Scalars['Int']['output'];
  /** 0 to 100, with at most two decimals. */
  completionPercentage: Scalars['Float']['output'];
  /** Those that are not done. */
  pending: Scalars['Int']['output'];
  /** All tasks. */
  total: Scalars['Int']['output'];
};

/** Absent fields stay unchanged; null clears description, dueDate or category. The limits are those of `CreateTaskInput`. */
export type UpdateTaskInput = {
  /** Null clears it. */
  category?: InputMaybe<Scalars['String']['input']>;
  /** Null is rejected. */
  completed?: InputMaybe<Scalars['Boolean']['input']>;
  /** Null clears it. */
  description?: InputMaybe<Scalars['String']['input']>;
  /** Null clears it. */
  dueDate?: InputMaybe<Scalars['DateTime']['input']>;
  /** Null is rejected. */
  priority?: InputMaybe<TaskPriority>;
  /** Null is rejected. */
  title?: InputMaybe<Scalars['String']['input']>;
};

export type User = {
  __typename?: 'User';
  id: Scalars['ID']['output'];
  /** The user's tasks, counted. */
  taskStatistics: TaskStatistics;
  /** The user's tasks, as in `Query.tasks`. */
  tasks: TaskConnection;
};


export type UserTasksArgs = {
  after?: InputMaybe<Scalars['String']['input']>;
  filter?: InputMaybe<TaskFilter>;
  first?: InputMaybe<Scalars['Int']['input']>;
  offset?: InputMaybe<Scalars['Int']['input']>;
  orderBy?: InputMaybe<TaskOrder>;
};



export type ResolverTypeWrapper<T> = Promise<T> | T;

export type ReferenceResolver<TResult, TReference, TContext> = (
      reference: TReference,
      context: TContext,
      info: GraphQLResolveInfo
    ) => Promise<TResult> | TResult;

      type ScalarCheck<T, S> = S extends true ? T : NullableCheck<T, S>;
      type NullableCheck<T, S> = Maybe<T> extends T ? Maybe<ListCheck<NonNullable<T>, S>> : ListCheck<T, S>;
      type ListCheck<T, S> = T extends (infer U)[] ? NullableCheck<U, S>[] : GraphQLRecursivePick<T, S>;
      export type GraphQLRecursivePick<T, S> = { [K in keyof T & keyof S]: ScalarCheck<T[K], S[K]> };


export type ResolverWithResolve<TResult, TParent, TContext, TArgs> = {
  resolve: ResolverFn<TResult, TParent, TContext, TArgs>;
};
export type Resolver<TResult, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = ResolverFn<TResult, TParent, TContext, TArgs> | ResolverWithResolve<TResult, TParent, TContext, TArgs>;

export type ResolverFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => Promise<TResult> | TResult;

export type SubscriptionSubscribeFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => AsyncIterable<TResult> | Promise<AsyncIterable<TResult>>;

export type SubscriptionResolveFn<TResult, TParent, TContext, TArgs> = (
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

export interface SubscriptionSubscriberObject<TResult, TKey extends string, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<{ [key in TKey]: TResult }, TParent, TContext, TArgs>;
  resolve?: SubscriptionResolveFn<TResult, { [key in TKey]: TResult }, TContext, TArgs>;
}

export interface SubscriptionResolverObject<TResult, TParent, TContext, TArgs> {
  subscribe: SubscriptionSubscribeFn<any, TParent, TContext, TArgs>;
  resolve: SubscriptionResolveFn<TResult, any, TContext, TArgs>;
}

export type SubscriptionObject<TResult, TKey extends string, TParent, TContext, TArgs> =
  | SubscriptionSubscriberObject<TResult, TKey, TParent, TContext, TArgs>
  | SubscriptionResolverObject<TResult, TParent, TContext, TArgs>;

export type SubscriptionResolver<TResult, TKey extends string, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> =
  | ((...args: any[]) => SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>)
  | SubscriptionObject<TResult, TKey, TParent, TContext, TArgs>;

export type TypeResolveFn<TTypes, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (
  parent: TParent,
  context: TContext,
  info: GraphQLResolveInfo
) => Maybe<TTypes> | Promise<Maybe<TTypes>>;

export type IsTypeOfResolverFn<T = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>> = (obj: T, context: TContext, info: GraphQLResolveInfo) => boolean | Promise<boolean>;

export type NextResolverFn<T> = () => Promise<T>;

export type DirectiveResolverFn<TResult = Record<PropertyKey, never>, TParent = Record<PropertyKey, never>, TContext = Record<PropertyKey, never>, TArgs = Record<PropertyKey, never>> = (
  next: NextResolverFn<TResult>,
  parent: TParent,
  args: TArgs,
  context: TContext,
  info: GraphQLResolveInfo
) => TResult | Promise<TResult>;

/** Mapping of federation types */
export type FederationTypes = {
  Task: Task;
  User: User;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  Task:
    ( { __typename: 'Task' }
    & GraphQLRecursivePick<FederationTypes['Task'], {"id":true}> );
  User:
    ( { __typename: 'User' }
    & GraphQLRecursivePick<FederationTypes['User'], {"id":true}> );
};



/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  CreateTaskInput: CreateTaskInput;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  OrderDirection: OrderDirection;
  PageInfo: ResolverTypeWrapper<PageInfo>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Subscription: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Task: ResolverTypeWrapper<TaskRow>;
  TaskChange: ResolverTypeWrapper<Omit<TaskChange, 'previous' | 'task'> & { previous?: Maybe<ResolversTypes['Task']>, task: ResolversTypes['Task'] }>;
  TaskChangeKind: TaskChangeKind;
  TaskConnection: ResolverTypeWrapper<TaskPage>;
  TaskEdge: ResolverTypeWrapper<TaskListEdge>;
  TaskFilter: TaskFilter;
  TaskOrder: TaskOrder;
  TaskOrderField: TaskOrderField;
  TaskPriority: ResolverTypeWrapper<Priority>;
  TaskStatistics: ResolverTypeWrapper<TaskStatistics>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  UpdateTaskInput: UpdateTaskInput;
  User: ResolverTypeWrapper<TaskOwner>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  CreateTaskInput: CreateTaskInput;
  String: Scalars['String']['output'];
  Boolean: Scalars['Boolean']['output'];
  DateTime: Scalars['DateTime']['output'];
  Mutation: Record<PropertyKey, never>;
  ID: Scalars['ID']['output'];
  Int: Scalars['Int']['output'];
  PageInfo: PageInfo;
  Query: Record<PropertyKey, never>;
  Subscription: Record<PropertyKey, never>;
  Task: TaskRow;
  TaskChange: Omit<TaskChange, 'previous' | 'task'> & { previous?: Maybe<ResolversParentTypes['Task']>, task: ResolversParentTypes['Task'] };
  TaskConnection: TaskPage;
  TaskEdge: TaskListEdge;
  TaskFilter: TaskFilter;
  TaskOrder: TaskOrder;
  TaskStatistics: TaskStatistics;
  Float: Scalars['Float']['output'];
  UpdateTaskInput: UpdateTaskInput;
  User: TaskOwner;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type MutationResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createTask: Resolver<ResolversTypes['Task'], ParentType, ContextType, RequireFields<MutationCreateTaskArgs, 'input'>>;
  deleteTask: Resolver<ResolversTypes['ID'], ParentType, ContextType, RequireFields<MutationDeleteTaskArgs, 'id'>>;
  updateTask: Resolver<ResolversTypes['Task'], ParentType, ContextType, RequireFields<MutationUpdateTaskArgs, 'id' | 'input'>>;
};

export type PageInfoResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PageInfo'] = ResolversParentTypes['PageInfo']> = {
  endCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  hasNextPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  hasPreviousPage?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  startCursor?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type QueryResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  task: Resolver<Maybe<ResolversTypes['Task']>, ParentType, ContextType, RequireFields<QueryTaskArgs, 'id'>>;
  taskStatistics: Resolver<ResolversTypes['TaskStatistics'], ParentType, ContextType>;
  tasks: Resolver<ResolversTypes['TaskConnection'], ParentType, ContextType, RequireFields<QueryTasksArgs, 'first'>>;
};

export type SubscriptionResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Subscription'] = ResolversParentTypes['Subscription']> = {
  taskChanges?: SubscriptionResolver<ResolversTypes['TaskChange'], "taskChanges", ParentType, ContextType, Partial<SubscriptionTaskChangesArgs>>;
};

export type TaskResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Task'] = ResolversParentTypes['Task'], FederationReferenceType extends FederationReferenceTypes['Task'] = FederationReferenceTypes['Task']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['Task']> | FederationReferenceType, FederationReferenceType, ContextType>;
  category?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  completed?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  description?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  dueDate?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  owner?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  priority?: Resolver<ResolversTypes['TaskPriority'], ParentType, ContextType>;
  title?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  updatedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  version?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type TaskChangeResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['TaskChange'] = ResolversParentTypes['TaskChange']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  kind?: Resolver<ResolversTypes['TaskChangeKind'], ParentType, ContextType>;
  occurredAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  previous?: Resolver<Maybe<ResolversTypes['Task']>, ParentType, ContextType>;
  sequence?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  task?: Resolver<ResolversTypes['Task'], ParentType, ContextType>;
};

export type TaskConnectionResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['TaskConnection'] = ResolversParentTypes['TaskConnection']> = {
  changesCursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  edges?: Resolver<Array<ResolversTypes['TaskEdge']>, ParentType, ContextType>;
  pageInfo?: Resolver<ResolversTypes['PageInfo'], ParentType, ContextType>;
  totalCount?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type TaskEdgeResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['TaskEdge'] = ResolversParentTypes['TaskEdge']> = {
  cursor?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  node?: Resolver<ResolversTypes['Task'], ParentType, ContextType>;
};

export type TaskPriorityResolvers = EnumResolverSignature<{ HIGH?: any, LOW?: any, MEDIUM?: any }, ResolversTypes['TaskPriority']>;

export type TaskStatisticsResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['TaskStatistics'] = ResolversParentTypes['TaskStatistics']> = {
  completed?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  completionPercentage?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  pending?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  total?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type UserResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User'], FederationReferenceType extends FederationReferenceTypes['User'] = FederationReferenceTypes['User']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['User']> | FederationReferenceType, FederationReferenceType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  taskStatistics?: Resolver<ResolversTypes['TaskStatistics'], ParentType, ContextType>;
  tasks?: Resolver<ResolversTypes['TaskConnection'], ParentType, ContextType, RequireFields<UserTasksArgs, 'first'>>;
};

export type Resolvers<ContextType = SubgraphContext> = {
  DateTime?: GraphQLScalarType;
  Mutation?: MutationResolvers<ContextType>;
  PageInfo?: PageInfoResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Subscription?: SubscriptionResolvers<ContextType>;
  Task?: TaskResolvers<ContextType>;
  TaskChange?: TaskChangeResolvers<ContextType>;
  TaskConnection?: TaskConnectionResolvers<ContextType>;
  TaskEdge?: TaskEdgeResolvers<ContextType>;
  TaskPriority?: TaskPriorityResolvers;
  TaskStatistics?: TaskStatisticsResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
};
