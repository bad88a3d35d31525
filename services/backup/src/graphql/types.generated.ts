import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Backup as BackupEntry } from '../backups/backup.entity.ts';
import type { BackupContext } from './context.ts';
export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
export type RequireFields<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };
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

export type AccountsForecast = {
  __typename?: 'AccountsForecast';
  after: Scalars['Float']['output'];
  /** That are not there now, and would be. */
  back: Scalars['Float']['output'];
  /** That are there now, and would not be. */
  gone: Scalars['Float']['output'];
  now: Scalars['Float']['output'];
  /** Of accounts that would be gone. */
  sessionsEnding: Scalars['Float']['output'];
};

/** An archive of the stores, as the catalogue knows it. */
export type Backup = {
  __typename?: 'Backup';
  /** As its manifest says; without one that can be read here, when it came. */
  createdAt: Scalars['DateTime']['output'];
  file: Scalars['String']['output'];
  /** request, schedule, safety (right before a restore), upload, or unknown: it was put there. */
  origin: Scalars['String']['output'];
  sha256?: Maybe<Scalars['String']['output']>;
  sizeBytes: Scalars['Float']['output'];
  /** The stores that it holds a dump of. */
  stores: Array<Scalars['String']['output']>;
  /** When that, or a look at all of it, last showed that it is not fit for a restore. */
  unfitAt?: Maybe<Scalars['DateTime']['output']>;
  /** Why it is not: a part of a sentence. */
  unfitReason?: Maybe<Scalars['String']['output']>;
  /** When it was last restored into a scratch database to prove it. */
  verifiedAt?: Maybe<Scalars['DateTime']['output']>;
  /** By which version of Taskmesh. */
  verifiedVersion?: Maybe<Scalars['String']['output']>;
};

/** What a scan of the place of the archives found. */
export type BackupScan = {
  __typename?: 'BackupScan';
  /** That the catalogue did not know. */
  added: Scalars['Int']['output'];
  /** That are there. */
  archives: Scalars['Int']['output'];
  /** That it does not know now either: encrypted to others, broken, or from somewhere else. */
  unread: Scalars['Int']['output'];
};

/** How many rows a table has, and how many it would have. */
export type CountChange = {
  __typename?: 'CountChange';
  after: Scalars['Float']['output'];
  /** That are not there now, and would be. */
  back?: Maybe<Scalars['Float']['output']>;
  /** That are there now, and would not be; null where rows have no ids. */
  gone?: Maybe<Scalars['Float']['output']>;
  name: Scalars['String']['output'];
  now: Scalars['Float']['output'];
};

export type Mutation = {
  __typename?: 'Mutation';
  /** Operators only. Makes an archive of all stores, each as it is at one moment, while they go on working. */
  createBackup: Backup;
  /** Operators only. False when there is no archive of that name. */
  deleteBackup: Scalars['Boolean']['output'];
  /**
   * Operators only. Goes the whole way of a restore but its last step: the stores stay as they are. NOT_FOUND when there is no such
   * archive, CONFLICT with the reason when it is not fit for such a restore.
   */
  dryRunRestore: RestoreForecast;
  /**
   * Operators only. For who has put the database of the tasks back to an earlier state by other means than a restore: begins an
   * epoch above all that were ever told, so that clients with cursors from a time that is no more read their lists anew. CONFLICT
   * when the clock is evidently behind, unless `atLeast` says what the epoch must be at the least.
   */
  newEpoch: NewEpoch;
  /**
   * Operators only. Replaces the stores by what the archive holds. One that was made here, with tables or columns that the
   * stores have no place for, is not restored unless `allowLoss` is true: then it is restored without them. With `stores`
   * (tasks, auth), only those are replaced. With `safetyBackup`, an archive of all stores is made right before that, or nothing
   * is replaced; without a word, one is made where replaced stores are not kept for an undo. With `decryptedFrom`, the restore is told of
   * by that name: that of the archive that was decrypted elsewhere and brought under another one.
   */
  restoreBackup: RestoreResult;
  /** Operators only. Brings into the catalogue what lies in the place of the archives, from their manifests. */
  scanBackups: BackupScan;
  /**
   * Operators only. Brings the stores back that the last restore replaced, while they are kept; what they replace is kept in its
   * turn. With `restoredAt`, as `undoableRestore` has it, only that restore is taken back.
   */
  undoRestore: RestoreResult;
  /**
   * Operators only. Restores the archive into databases of its own, which are dropped again: the stores are not touched.
   * NOT_FOUND when there is no such archive, CONFLICT with the reason when it is not fit for a restore.
   */
  verifyBackup: Backup;
};


export type MutationDeleteBackupArgs = {
  file: Scalars['String']['input'];
};


export type MutationDryRunRestoreArgs = {
  allowLoss?: InputMaybe<Scalars['Boolean']['input']>;
  file: Scalars['String']['input'];
  stores?: InputMaybe<Array<Scalars['String']['input']>>;
};


export type MutationNewEpochArgs = {
  atLeast?: InputMaybe<Scalars['Int']['input']>;
};


export type MutationRestoreBackupArgs = {
  allowLoss?: InputMaybe<Scalars['Boolean']['input']>;
  decryptedFrom?: InputMaybe<Scalars['String']['input']>;
  file: Scalars['String']['input'];
  safetyBackup?: InputMaybe<Scalars['Boolean']['input']>;
  stores?: InputMaybe<Array<Scalars['String']['input']>>;
};


export type MutationUndoRestoreArgs = {
  restoredAt?: InputMaybe<Scalars['DateTime']['input']>;
};


export type MutationVerifyBackupArgs = {
  file: Scalars['String']['input'];
};

export type NewEpoch = {
  __typename?: 'NewEpoch';
  epoch: Scalars['Int']['output'];
};

export type Query = {
  __typename?: 'Query';
  /** Operators only. Null when there is no archive of that name. */
  backup?: Maybe<Backup>;
  /** Operators only: newest first. */
  backups: Array<Backup>;
  /** Operators only. What an undo would take back; null when nothing is kept. */
  undoableRestore?: Maybe<UndoableRestore>;
};


export type QueryBackupArgs = {
  file: Scalars['String']['input'];
};

/** What a restore would change, and whether it could be done now. */
export type RestoreForecast = {
  __typename?: 'RestoreForecast';
  /** Null where no accounts would be replaced. */
  accounts?: Maybe<AccountsForecast>;
  dropped: Array<Scalars['String']['output']>;
  /** What would, as `store: reason`. */
  obstacles: Array<Scalars['String']['output']>;
  /** Whether nothing is known that would keep the stores from being replaced now. */
  possible: Scalars['Boolean']['output'];
  skipped: Array<SkippedObjects>;
  stores: Array<StoreForecast>;
  tookMs: Scalars['Float']['output'];
};

/** How a restore ended. */
export type RestoreOutcome =
  /** Another restore is running: this one has changed nothing. */
  | 'BUSY'
  /** The archive is broken, hostile, or over a limit. */
  | 'EXTRACTION_FAILED'
  | 'FAILED'
  /** No file was named. */
  | 'FILE_MISSING'
  | 'FILE_NOT_FOUND'
  /** The name leads out of the place of the archives. */
  | 'FILE_OUTSIDE'
  /** Of no restore the stores from before are kept any more. */
  | 'NOTHING_TO_UNDO'
  /** The last restore is another one than was to be taken back. Nothing has changed. */
  | 'OTHER_RESTORE'
  /** The archive was fine, but the stores are as they were. */
  | 'PROCESSED'
  /** The stores are those of the archive now. */
  | 'RESTORED'
  /** The same; something that is of no use any more could not be removed yet, which is tried again and disturbs nobody. */
  | 'RESTORED_CLEAN_UP_PENDING'
  /** A server was lost at the moment of the swap: it is not known yet whether the stores were replaced. All of them will be, or none. */
  | 'UNKNOWN';

/** The outcome of the ten rules; they are never GraphQL errors. */
export type RestoreResult = {
  __typename?: 'RestoreResult';
  databaseRestored: Scalars['Boolean']['output'];
  /** What the stores had no place for and was left out, as `store.table` or `store.table.column`. */
  dropped: Array<Scalars['String']['output']>;
  error?: Maybe<Scalars['String']['output']>;
  /** Until then an undo brings back what was replaced; null when nothing is kept, or that is not known. */
  keptUntil?: Maybe<Scalars['DateTime']['output']>;
  message: Scalars['String']['output'];
  outcome: RestoreOutcome;
  /** The archive of what was there before, if one was made for this restore; also when nothing was replaced in the end. */
  safetyBackup?: Maybe<Scalars['String']['output']>;
  /** What of the dumps was passed over. */
  skipped: Array<SkippedObjects>;
  success: Scalars['Boolean']['output'];
};

/** What a dump holds beside rows: it is never run, and not taken over. */
export type SkippedObjects = {
  __typename?: 'SkippedObjects';
  count: Scalars['Int']['output'];
  /** function, trigger, grant, extension … */
  kind: Scalars['String']['output'];
};

/** Of one store, by table. */
export type StoreForecast = {
  __typename?: 'StoreForecast';
  rows: Array<CountChange>;
  store: Scalars['String']['output'];
};

/** The last restore, whose former stores are kept. */
export type UndoableRestore = {
  __typename?: 'UndoableRestore';
  file: Scalars['String']['output'];
  /** Whether that took another one back. */
  isUndo: Scalars['Boolean']['output'];
  keptUntil: Scalars['DateTime']['output'];
  /** For how long what an undo replaces would be kept in its turn; 0: not at all. */
  replacedKeptMs: Scalars['Float']['output'];
  restoredAt: Scalars['DateTime']['output'];
  stores: Array<Scalars['String']['output']>;
};



export type ResolverTypeWrapper<T> = Promise<T> | T;


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





/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  AccountsForecast: ResolverTypeWrapper<AccountsForecast>;
  Float: ResolverTypeWrapper<Scalars['Float']['output']>;
  Backup: ResolverTypeWrapper<BackupEntry>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  BackupScan: ResolverTypeWrapper<BackupScan>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  CountChange: ResolverTypeWrapper<CountChange>;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  NewEpoch: ResolverTypeWrapper<NewEpoch>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  RestoreForecast: ResolverTypeWrapper<RestoreForecast>;
  RestoreOutcome: RestoreOutcome;
  RestoreResult: ResolverTypeWrapper<RestoreResult>;
  SkippedObjects: ResolverTypeWrapper<SkippedObjects>;
  StoreForecast: ResolverTypeWrapper<StoreForecast>;
  UndoableRestore: ResolverTypeWrapper<UndoableRestore>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  AccountsForecast: AccountsForecast;
  Float: Scalars['Float']['output'];
  Backup: BackupEntry;
  String: Scalars['String']['output'];
  BackupScan: BackupScan;
  Int: Scalars['Int']['output'];
  CountChange: CountChange;
  DateTime: Scalars['DateTime']['output'];
  Mutation: Record<PropertyKey, never>;
  Boolean: Scalars['Boolean']['output'];
  NewEpoch: NewEpoch;
  Query: Record<PropertyKey, never>;
  RestoreForecast: RestoreForecast;
  RestoreResult: RestoreResult;
  SkippedObjects: SkippedObjects;
  StoreForecast: StoreForecast;
  UndoableRestore: UndoableRestore;
};

export type AccountsForecastResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['AccountsForecast'] = ResolversParentTypes['AccountsForecast']> = {
  after?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  back?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  gone?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  now?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  sessionsEnding?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type BackupResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['Backup'] = ResolversParentTypes['Backup']> = {
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  file?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  origin?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  sha256?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  sizeBytes?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  stores?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
  unfitAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  unfitReason?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  verifiedAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  verifiedVersion?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
};

export type BackupScanResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['BackupScan'] = ResolversParentTypes['BackupScan']> = {
  added?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  archives?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  unread?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type CountChangeResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['CountChange'] = ResolversParentTypes['CountChange']> = {
  after?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  back?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  gone?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  now?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type MutationResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createBackup: Resolver<ResolversTypes['Backup'], ParentType, ContextType>;
  deleteBackup: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationDeleteBackupArgs, 'file'>>;
  dryRunRestore: Resolver<ResolversTypes['RestoreForecast'], ParentType, ContextType, RequireFields<MutationDryRunRestoreArgs, 'allowLoss' | 'file'>>;
  newEpoch: Resolver<ResolversTypes['NewEpoch'], ParentType, ContextType, Partial<MutationNewEpochArgs>>;
  restoreBackup: Resolver<ResolversTypes['RestoreResult'], ParentType, ContextType, RequireFields<MutationRestoreBackupArgs, 'allowLoss' | 'file'>>;
  scanBackups: Resolver<ResolversTypes['BackupScan'], ParentType, ContextType>;
  undoRestore: Resolver<ResolversTypes['RestoreResult'], ParentType, ContextType, Partial<MutationUndoRestoreArgs>>;
  verifyBackup: Resolver<ResolversTypes['Backup'], ParentType, ContextType, RequireFields<MutationVerifyBackupArgs, 'file'>>;
};

export type NewEpochResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['NewEpoch'] = ResolversParentTypes['NewEpoch']> = {
  epoch?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  backup: Resolver<Maybe<ResolversTypes['Backup']>, ParentType, ContextType, RequireFields<QueryBackupArgs, 'file'>>;
  backups: Resolver<Array<ResolversTypes['Backup']>, ParentType, ContextType>;
  undoableRestore: Resolver<Maybe<ResolversTypes['UndoableRestore']>, ParentType, ContextType>;
};

export type RestoreForecastResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['RestoreForecast'] = ResolversParentTypes['RestoreForecast']> = {
  accounts?: Resolver<Maybe<ResolversTypes['AccountsForecast']>, ParentType, ContextType>;
  dropped?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
  obstacles?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
  possible?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  skipped?: Resolver<Array<ResolversTypes['SkippedObjects']>, ParentType, ContextType>;
  stores?: Resolver<Array<ResolversTypes['StoreForecast']>, ParentType, ContextType>;
  tookMs?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type RestoreResultResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['RestoreResult'] = ResolversParentTypes['RestoreResult']> = {
  databaseRestored?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  dropped?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
  error?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  keptUntil?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  message?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  outcome?: Resolver<ResolversTypes['RestoreOutcome'], ParentType, ContextType>;
  safetyBackup?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  skipped?: Resolver<Array<ResolversTypes['SkippedObjects']>, ParentType, ContextType>;
  success?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
};

export type SkippedObjectsResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['SkippedObjects'] = ResolversParentTypes['SkippedObjects']> = {
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type StoreForecastResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['StoreForecast'] = ResolversParentTypes['StoreForecast']> = {
  rows?: Resolver<Array<ResolversTypes['CountChange']>, ParentType, ContextType>;
  store?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type UndoableRestoreResolvers<ContextType = BackupContext, ParentType extends ResolversParentTypes['UndoableRestore'] = ResolversParentTypes['UndoableRestore']> = {
  file?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  isUndo?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  keptUntil?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  replacedKeptMs?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  restoredAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  stores?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
};

export type Resolvers<ContextType = BackupContext> = {
  AccountsForecast?: AccountsForecastResolvers<ContextType>;
  Backup?: BackupResolvers<ContextType>;
  BackupScan?: BackupScanResolvers<ContextType>;
  CountChange?: CountChangeResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  Mutation?: MutationResolvers<ContextType>;
  NewEpoch?: NewEpochResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  RestoreForecast?: RestoreForecastResolvers<ContextType>;
  RestoreResult?: RestoreResultResolvers<ContextType>;
  SkippedObjects?: SkippedObjectsResolvers<ContextType>;
  StoreForecast?: StoreForecastResolvers<ContextType>;
  UndoableRestore?: UndoableRestoreResolvers<ContextType>;
};
