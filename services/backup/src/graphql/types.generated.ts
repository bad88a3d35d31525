import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { SubgraphContext } from '@taskmesh/internal-api';
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

/** How many accounts there are now, and how many there would be after the restore. */
export type AccountsForecast = {
  __typename?: 'AccountsForecast';
  /** Accounts that would exist. */
  after: Scalars['Float']['output'];
  /** Accounts that would be added. */
  back: Scalars['Float']['output'];
  /** Accounts that would be removed. */
  gone: Scalars['Float']['output'];
  /** Accounts that exist now. */
  now: Scalars['Float']['output'];
  /** Sessions of the accounts that would be removed. */
  sessionsEnding: Scalars['Float']['output'];
};

/** An archive of the databases, as listed in the catalogue. */
export type Backup = {
  __typename?: 'Backup';
  /** According to its manifest; if that cannot be read here, when the archive arrived. */
  createdAt: Scalars['DateTime']['output'];
  /** Its name, by which the other operations refer to it. */
  file: Scalars['String']['output'];
  /** request, schedule, safety (made right before a restore), upload, or unknown (placed there by other means). */
  origin: Scalars['String']['output'];
  /** The SHA-256 of the whole file in hexadecimal; null if it was placed there by hand. */
  sha256?: Maybe<Scalars['String']['output']>;
  /** Its size in bytes. */
  sizeBytes: Scalars['Float']['output'];
  /** The databases that it has a dump of. */
  stores: Array<Scalars['String']['output']>;
  /** When a test restore or an inspection last showed that it cannot be restored. */
  unfitAt?: Maybe<Scalars['DateTime']['output']>;
  /** Why it cannot be restored, as part of a sentence. */
  unfitReason?: Maybe<Scalars['String']['output']>;
  /** When a test restore of it last succeeded. */
  verifiedAt?: Maybe<Scalars['DateTime']['output']>;
  /** The version of Taskmesh that made that test restore. */
  verifiedVersion?: Maybe<Scalars['String']['output']>;
};

/** What a scan of the backup storage found. */
export type BackupScan = {
  __typename?: 'BackupScan';
  /** Archives that are new to the catalogue. */
  added: Scalars['Int']['output'];
  /** Archives found. */
  archives: Scalars['Int']['output'];
  /** Archives that could not be read: encrypted for others, corrupt, or made by other software. */
  unread: Scalars['Int']['output'];
};

/** How many rows a table has now, and how many it would have after the restore. */
export type CountChange = {
  __typename?: 'CountChange';
  /** Rows it would have. */
  after: Scalars['Float']['output'];
  /** Rows that would be added; null if the rows have no ids. */
  back?: Maybe<Scalars['Float']['output']>;
  /** Rows that would be removed; null if the rows have no ids. */
  gone?: Maybe<Scalars['Float']['output']>;
  /** The name of the table. */
  name: Scalars['String']['output'];
  /** Rows it has now. */
  now: Scalars['Float']['output'];
};

export type Mutation = {
  __typename?: 'Mutation';
  /** Operators only. Makes an archive of all databases, each as of one point in time, while they stay in use. */
  createBackup: Backup;
  /** Operators only. Deletes an archive. Returns false if no archive has that name. */
  deleteBackup: Scalars['Boolean']['output'];
  /**
   * Operators only. Performs all steps of a restore except the last one; the databases stay unchanged. NOT_FOUND if the archive
   * does not exist, CONFLICT with the reason if it cannot be restored this way.
   */
  dryRunRestore: RestoreForecast;
  /**
   * Operators only. Use it after the database of the tasks was reset to an earlier state by other means than a restore. It starts a
   * new epoch, higher than all before, so that earlier cursors expire and clients reload their lists. CONFLICT if the clock is
   * clearly behind and `atLeast` (the lowest acceptable epoch) is not given.
   */
  newEpoch: NewEpoch;
  /**
   * Operators only. Replaces the databases with those of the archive. If an archive made by Taskmesh has tables or columns that
   * do not exist here, it is restored (without them) only if `allowLoss` is true. `stores` limits the restore to those databases
   * (tasks, auth). If `safetyBackup` is true, an archive of all databases is made first, and nothing is replaced if that fails; by
   * default one is made if replaced databases are not kept for an undo. `decryptedFrom` is the original name of an archive that was
   * decrypted elsewhere; the restore is recorded under it.
   */
  restoreBackup: RestoreResult;
  /** Operators only. Adds the archives found in the backup storage to the catalogue, using their manifests. */
  scanBackups: BackupScan;
  /**
   * Operators only. Brings back the databases that the last restore replaced, while they are kept. What this replaces is kept in
   * turn. With `restoredAt` (from `undoableRestore`), only that restore is undone.
   */
  undoRestore: RestoreResult;
  /**
   * Operators only. Restores the archive into temporary databases, which are then dropped; the real ones are not touched.
   * NOT_FOUND if the archive does not exist, CONFLICT with the reason if it cannot be restored.
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

/** The epoch that has begun. */
export type NewEpoch = {
  __typename?: 'NewEpoch';
  /** Increases with each restore. */
  epoch: Scalars['Int']['output'];
};

export type Query = {
  __typename?: 'Query';
  /** Operators only. One archive. Null if no archive has that name. */
  backup?: Maybe<Backup>;
  /** Operators only. The archives in the backup storage. Newest first. */
  backups: Array<Backup>;
  /** Operators only. The restore that an undo would reverse; null if nothing is kept. */
  undoableRestore?: Maybe<UndoableRestore>;
};


export type QueryBackupArgs = {
  file: Scalars['String']['input'];
};

/** What a restore would change, and whether it is possible now. */
export type RestoreForecast = {
  __typename?: 'RestoreForecast';
  /** Null if the restore would not replace accounts. */
  accounts?: Maybe<AccountsForecast>;
  /** Tables and columns that would be left out, as `store.table` or `store.table.column`. */
  dropped: Array<Scalars['String']['output']>;
  /** What prevents it, as `store: reason`. */
  obstacles: Array<Scalars['String']['output']>;
  /** Whether nothing known prevents the databases from being replaced now. */
  possible: Scalars['Boolean']['output'];
  /** What would be skipped in dumps that were made elsewhere. */
  skipped: Array<SkippedObjects>;
  /** The databases that would be replaced. */
  stores: Array<StoreForecast>;
  /** How long the dry run took, in milliseconds. */
  tookMs: Scalars['Float']['output'];
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

/** The outcome of a restore or an undo. Failures of the restore itself are reported here, not as GraphQL errors. */
export type RestoreResult = {
  __typename?: 'RestoreResult';
  /** Whether the databases were replaced. */
  databaseRestored: Scalars['Boolean']['output'];
  /** Tables and columns that do not exist here and were left out, as `store.table` or `store.table.column`. */
  dropped: Array<Scalars['String']['output']>;
  /** Why it did not succeed; null if it did. */
  error?: Maybe<Scalars['String']['output']>;
  /** Until when an undo is possible; null if nothing is kept or this is unknown. */
  keptUntil?: Maybe<Scalars['DateTime']['output']>;
  /** What happened, for people to read. */
  message: Scalars['String']['output'];
  /** How it ended, for programs. */
  outcome: RestoreOutcome;
  /** The archive made right before this restore, if any, even if nothing was replaced in the end. */
  safetyBackup?: Maybe<Scalars['String']['output']>;
  /** What was skipped in dumps that were made elsewhere. */
  skipped: Array<SkippedObjects>;
  /** False if the request was refused or the archive could not be extracted. */
  success: Scalars['Boolean']['output'];
};

/** What a dump contains besides rows. It is never executed or restored. */
export type SkippedObjects = {
  __typename?: 'SkippedObjects';
  /** How many of them the dumps have. */
  count: Scalars['Int']['output'];
  /** function, trigger, grant, extension … */
  kind: Scalars['String']['output'];
};

/** The changes to one database, by table. */
export type StoreForecast = {
  __typename?: 'StoreForecast';
  /** Its tables. */
  rows: Array<CountChange>;
  /** The name of the database: tasks or auth. */
  store: Scalars['String']['output'];
};

/** The last restore, while the databases that it replaced are kept. */
export type UndoableRestore = {
  __typename?: 'UndoableRestore';
  /** The archive that was restored. */
  file: Scalars['String']['output'];
  /** Whether it was itself an undo. */
  isUndo: Scalars['Boolean']['output'];
  /** Until when the replaced databases are kept. */
  keptUntil: Scalars['DateTime']['output'];
  /** How long what an undo replaces would be kept, in milliseconds; 0 means not at all. */
  replacedKeptMs: Scalars['Float']['output'];
  /** When it was restored. */
  restoredAt: Scalars['DateTime']['output'];
  /** The databases that were replaced. */
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
  Backup: ResolverTypeWrapper<Backup>;
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
  Backup: Backup;
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

export type AccountsForecastResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['AccountsForecast'] = ResolversParentTypes['AccountsForecast']> = {
  after?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  back?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  gone?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  now?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  sessionsEnding?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type BackupResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Backup'] = ResolversParentTypes['Backup']> = {
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

export type BackupScanResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['BackupScan'] = ResolversParentTypes['BackupScan']> = {
  added?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  archives?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  unread?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type CountChangeResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['CountChange'] = ResolversParentTypes['CountChange']> = {
  after?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  back?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  gone?: Resolver<Maybe<ResolversTypes['Float']>, ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  now?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type MutationResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  createBackup: Resolver<ResolversTypes['Backup'], ParentType, ContextType>;
  deleteBackup: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationDeleteBackupArgs, 'file'>>;
  dryRunRestore: Resolver<ResolversTypes['RestoreForecast'], ParentType, ContextType, RequireFields<MutationDryRunRestoreArgs, 'allowLoss' | 'file'>>;
  newEpoch: Resolver<ResolversTypes['NewEpoch'], ParentType, ContextType, Partial<MutationNewEpochArgs>>;
  restoreBackup: Resolver<ResolversTypes['RestoreResult'], ParentType, ContextType, RequireFields<MutationRestoreBackupArgs, 'allowLoss' | 'file'>>;
  scanBackups: Resolver<ResolversTypes['BackupScan'], ParentType, ContextType>;
  undoRestore: Resolver<ResolversTypes['RestoreResult'], ParentType, ContextType, Partial<MutationUndoRestoreArgs>>;
  verifyBackup: Resolver<ResolversTypes['Backup'], ParentType, ContextType, RequireFields<MutationVerifyBackupArgs, 'file'>>;
};

export type NewEpochResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['NewEpoch'] = ResolversParentTypes['NewEpoch']> = {
  epoch?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  backup: Resolver<Maybe<ResolversTypes['Backup']>, ParentType, ContextType, RequireFields<QueryBackupArgs, 'file'>>;
  backups: Resolver<Array<ResolversTypes['Backup']>, ParentType, ContextType>;
  undoableRestore: Resolver<Maybe<ResolversTypes['UndoableRestore']>, ParentType, ContextType>;
};

export type RestoreForecastResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['RestoreForecast'] = ResolversParentTypes['RestoreForecast']> = {
  accounts?: Resolver<Maybe<ResolversTypes['AccountsForecast']>, ParentType, ContextType>;
  dropped?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
  obstacles?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
  possible?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  skipped?: Resolver<Array<ResolversTypes['SkippedObjects']>, ParentType, ContextType>;
  stores?: Resolver<Array<ResolversTypes['StoreForecast']>, ParentType, ContextType>;
  tookMs?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
};

export type RestoreResultResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['RestoreResult'] = ResolversParentTypes['RestoreResult']> = {
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

export type SkippedObjectsResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['SkippedObjects'] = ResolversParentTypes['SkippedObjects']> = {
  count?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type StoreForecastResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['StoreForecast'] = ResolversParentTypes['StoreForecast']> = {
  rows?: Resolver<Array<ResolversTypes['CountChange']>, ParentType, ContextType>;
  store?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type UndoableRestoreResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['UndoableRestore'] = ResolversParentTypes['UndoableRestore']> = {
  file?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  isUndo?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  keptUntil?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  replacedKeptMs?: Resolver<ResolversTypes['Float'], ParentType, ContextType>;
  restoredAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  stores?: Resolver<Array<ResolversTypes['String']>, ParentType, ContextType>;
};

export type Resolvers<ContextType = SubgraphContext> = {
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
