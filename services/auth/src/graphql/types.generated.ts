import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Account } from '../accounts/account.entity.ts';
import type { OpenedSession } from '../sessions/new-session.ts';
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

/** Something that happened to the caller's account. */
export type AuditEntry = {
  __typename?: 'AuditEntry';
  /** When it happened. */
  at: Scalars['DateTime']['output'];
  /** Increases with time. */
  id: Scalars['ID']['output'];
  /** The IP address that it came from. */
  ip?: Maybe<Scalars['String']['output']>;
  /** What happened, such as `session.opened`. */
  kind: Scalars['String']['output'];
  /** The session or personal token concerned. */
  sessionId?: Maybe<Scalars['ID']['output']>;
};

/** A new address for the caller's account. */
export type ChangeEmailInput = {
  /** The new address. */
  email: Scalars['String']['input'];
  /** The account's password. */
  password: Scalars['String']['input'];
};

/** The present and the new password of the caller's account. */
export type ChangePasswordInput = {
  /** The present password. A wrong one counts as a failed login. */
  currentPassword: Scalars['String']['input'];
  /** The rules are those of `SignUpInput`. */
  newPassword: Scalars['String']['input'];
};

/** A token to create for a program. */
export type CreatePersonalTokenInput = {
  /** At most 366 days from now. */
  expiresAt: Scalars['DateTime']['input'];
  /** A name to recognise it by: 1 to 255 characters. */
  name: Scalars['String']['input'];
  /** What it may do. */
  scope: TokenScope;
};

/** Confirms that the caller means it. */
export type DeleteAccountInput = {
  /** The account's password. */
  password: Scalars['String']['input'];
};

/** What the browser brought back from the provider, and the caller's password. */
export type LinkIdentityInput = {
  /** As in `SignInWithCodeInput`, but at most 10 minutes old. */
  code: Scalars['String']['input'];
  /** The account's password. */
  password: Scalars['String']['input'];
  /** The secret that the challenge was derived from. */
  verifier: Scalars['String']['input'];
};

/** An identity at the provider that can sign in to the caller's account. */
export type LinkedIdentity = {
  __typename?: 'LinkedIdentity';
  /** When it was linked. */
  createdAt: Scalars['DateTime']['output'];
  /** The verified address at the time of linking. */
  email: Scalars['String']['output'];
  /** For `unlinkIdentity`. */
  id: Scalars['ID']['output'];
  /** The issuer URL of the provider. */
  issuer: Scalars['String']['output'];
  /** When it was last used to sign in, or linked. */
  lastUsedAt: Scalars['DateTime']['output'];
};

/** An account's address and password. */
export type LoginInput = {
  /** In upper or lower case. */
  email: Scalars['String']['input'];
  /** At most 1,024 characters. */
  password: Scalars['String']['input'];
};

export type Mutation = {
  __typename?: 'Mutation';
  /** Changes the name of the caller's account. */
  changeName: User;
  /** Sets a new password, ends all other sessions, and sends a notice by mail. */
  changePassword: Scalars['Boolean']['output'];
  /**
   * Changes the account's address to the one that the token was mailed to, and notifies the old one. Requires a session of the
   * account or its password, because the token may have been mailed to a stranger. A wrong password counts as a failed login and
   * leaves the token valid.
   */
  confirmEmailChange: Scalars['Boolean']['output'];
  /** Creates a token for a program. Requires a session. An account can have at most 100 valid tokens. */
  createPersonalToken: NewPersonalToken;
  /**
   * Permanently deletes the caller's account with everything it owns. All sessions end, all personal tokens are revoked, the tasks
   * are deleted (as DELETE changes), and the address can be used again. Requires a session; a personal token is not enough.
   */
  deleteAccount: Scalars['Boolean']['output'];
  /** Ends all of the caller's other sessions and returns how many there were. */
  endOtherSessions: Scalars['Int']['output'];
  /** Revokes one of the caller's tokens and returns its id. Requires a session. */
  endPersonalToken: Scalars['ID']['output'];
  /** Ends one of the caller's sessions, revokes its tokens, and returns its id. */
  endSession: Scalars['ID']['output'];
  /** Links an identity to the caller's account, which must have the same verified address. */
  linkIdentity: LinkedIdentity;
  /** Logs in. The error is the same for an unknown address and a wrong password. */
  login: Session;
  /** Ends the caller's session and revokes its tokens. */
  logout: Scalars['Boolean']['output'];
  /** Returns new tokens for a refresh token, which is valid once: using it again ends the session. */
  refreshSession: Session;
  /** Mails a token to the new address. Always returns true, even if the address belongs to another account. */
  requestEmailChange: Scalars['Boolean']['output'];
  /** Sends a recovery mail. Always returns true, whether or not the address has an account. */
  requestPasswordReset: Scalars['Boolean']['output'];
  /** Sets a new password, using the token from a recovery mail. Ends all sessions and revokes all personal tokens. */
  resetPassword: Scalars['Boolean']['output'];
  /**
   * Logs in after a sign-in at the provider, creating an account if none has the verified address. If one does, the error is
   * LINK_REQUIRED: the same code is then valid with the password of that account, until 10 minutes after the browser returned.
   */
  signInWithCode: Session;
  /** Creates an account and logs in to it. */
  signUp: Session;
  /** Removes an identity from the caller's account. Returns the id. Requires a session. The only identity of an account without a password cannot be unlinked. */
  unlinkIdentity: Scalars['ID']['output'];
};


export type MutationChangeNameArgs = {
  name: Scalars['String']['input'];
};


export type MutationChangePasswordArgs = {
  input: ChangePasswordInput;
};


export type MutationConfirmEmailChangeArgs = {
  password?: InputMaybe<Scalars['String']['input']>;
  token: Scalars['String']['input'];
};


export type MutationCreatePersonalTokenArgs = {
  input: CreatePersonalTokenInput;
};


export type MutationDeleteAccountArgs = {
  input: DeleteAccountInput;
};


export type MutationEndPersonalTokenArgs = {
  id: Scalars['ID']['input'];
};


export type MutationEndSessionArgs = {
  id: Scalars['ID']['input'];
};


export type MutationLinkIdentityArgs = {
  input: LinkIdentityInput;
};


export type MutationLoginArgs = {
  input: LoginInput;
};


export type MutationRefreshSessionArgs = {
  refreshToken: Scalars['String']['input'];
};


export type MutationRequestEmailChangeArgs = {
  input: ChangeEmailInput;
};


export type MutationRequestPasswordResetArgs = {
  email: Scalars['String']['input'];
};


export type MutationResetPasswordArgs = {
  input: ResetPasswordInput;
};


export type MutationSignInWithCodeArgs = {
  input: SignInWithCodeInput;
};


export type MutationSignUpArgs = {
  input: SignUpInput;
};


export type MutationUnlinkIdentityArgs = {
  id: Scalars['ID']['input'];
};

/** A token that was just created. */
export type NewPersonalToken = {
  __typename?: 'NewPersonalToken';
  /** Its entry in the list. */
  personalToken: PersonalToken;
  /** Shown only once: only its hash is stored. */
  token: Scalars['String']['output'];
};

/** One of the caller's active sessions. */
export type OpenSession = {
  __typename?: 'OpenSession';
  /** The `User-Agent` of that request. */
  client?: Maybe<Scalars['String']['output']>;
  /** When it began. */
  createdAt: Scalars['DateTime']['output'];
  /** Whether this request belongs to it. */
  current: Scalars['Boolean']['output'];
  /** For `endSession`. */
  id: Scalars['ID']['output'];
  /** The IP address from which it was opened or last refreshed. */
  ip?: Maybe<Scalars['String']['output']>;
  /** Accurate to the minute. */
  lastUsedAt: Scalars['DateTime']['output'];
};

/** A token that the caller created for a program. It is used like an access token. */
export type PersonalToken = {
  __typename?: 'PersonalToken';
  /** When it was created. */
  createdAt: Scalars['DateTime']['output'];
  /** When it expires. */
  expiresAt: Scalars['DateTime']['output'];
  /** For `endPersonalToken`. */
  id: Scalars['ID']['output'];
  /** Accurate to the minute; null until its first use. */
  lastUsedAt?: Maybe<Scalars['DateTime']['output']>;
  /** The name that the caller gave it. */
  name: Scalars['String']['output'];
  /** What it may do. */
  scope: TokenScope;
};

export type Query = {
  __typename?: 'Query';
  /** What happened to the caller's account, newest first. `first` is 1 to 1,000; `after` is the id of the last entry already read. */
  auditEntries: Array<AuditEntry>;
  /** The identities that can sign in to the caller's account. Newest first. */
  linkedIdentities: Array<LinkedIdentity>;
  /** The caller's account. */
  me: User;
  /** The caller's valid tokens, newest first. */
  personalTokens: Array<PersonalToken>;
  /** The caller's active sessions, newest first, at most 1,000. */
  sessions: Array<OpenSession>;
  /** The provider that people can sign in with. Null if no provider is configured. */
  signInProvider?: Maybe<SignInProvider>;
};


export type QueryAuditEntriesArgs = {
  after?: InputMaybe<Scalars['ID']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};

/** A new password for an account whose password is lost. */
export type ResetPasswordInput = {
  /** The rules are those of `SignUpInput`. A rejected password leaves the token valid. */
  newPassword: Scalars['String']['input'];
  /** The token from the recovery mail, valid once and for 30 minutes. */
  token: Scalars['String']['input'];
};

/** The tokens of a new or refreshed session. */
export type Session = {
  __typename?: 'Session';
  /** A JWT; send it as `Authorization: Bearer <token>`. */
  accessToken: Scalars['String']['output'];
  /** Seconds until the access token expires. */
  expiresIn: Scalars['Int']['output'];
  /** Single use: each refresh returns a new one. */
  refreshToken: Scalars['String']['output'];
  /** The user who is logged in. */
  user: User;
};

/** An identity provider that people can sign in with. */
export type SignInProvider = {
  __typename?: 'SignInProvider';
  /** Its name, for people. */
  name: Scalars['String']['output'];
};

/** What the browser brought back from the provider. */
export type SignInWithCodeInput = {
  /** `sign_in_code` from the fragment with which the browser returned, at most a minute ago. */
  code: Scalars['String']['input'];
  /** After LINK_REQUIRED: the password of the account to link. */
  password?: InputMaybe<Scalars['String']['input']>;
  /** The secret that the challenge was derived from. */
  verifier: Scalars['String']['input'];
};

/** What an account begins with. */
export type SignUpInput = {
  /** At most 254 characters; unique, ignoring case. */
  email: Scalars['String']['input'];
  /** The name to show: 1 to 255 characters after trimming. */
  name: Scalars['String']['input'];
  /** 8 to 128 characters (an installation may require more than 8); common passwords are rejected. */
  password: Scalars['String']['input'];
};

/** What a personal token may do. */
export type TokenScope =
  /** Queries and subscriptions. */
  | 'READ'
  /** Also mutations, except those that require a session. */
  | 'WRITE';

/** A person with an account. Clients can see only their own. */
export type User = {
  __typename?: 'User';
  /** The address to log in with, as the user wrote it. */
  email: Scalars['String']['output'];
  /** When the address was confirmed: at sign-up, or at its last change. */
  emailConfirmedAt: Scalars['DateTime']['output'];
  /** A UUID; it never changes. */
  id: Scalars['ID']['output'];
  /** The name to show, 1 to 255 characters. */
  name: Scalars['String']['output'];
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
  User: User;
};

/** Mapping of federation reference types */
export type FederationReferenceTypes = {
  User:
    ( { __typename: 'User' }
    & GraphQLRecursivePick<FederationTypes['User'], {"id":true}> );
};



/** Mapping between all available schema types and the resolvers types */
export type ResolversTypes = {
  AuditEntry: ResolverTypeWrapper<AuditEntry>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  ChangeEmailInput: ChangeEmailInput;
  ChangePasswordInput: ChangePasswordInput;
  CreatePersonalTokenInput: CreatePersonalTokenInput;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  DeleteAccountInput: DeleteAccountInput;
  LinkIdentityInput: LinkIdentityInput;
  LinkedIdentity: ResolverTypeWrapper<LinkedIdentity>;
  LoginInput: LoginInput;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  NewPersonalToken: ResolverTypeWrapper<NewPersonalToken>;
  OpenSession: ResolverTypeWrapper<OpenSession>;
  PersonalToken: ResolverTypeWrapper<PersonalToken>;
  Query: ResolverTypeWrapper<Record<PropertyKey, never>>;
  ResetPasswordInput: ResetPasswordInput;
  Session: ResolverTypeWrapper<OpenedSession>;
  SignInProvider: ResolverTypeWrapper<SignInProvider>;
  SignInWithCodeInput: SignInWithCodeInput;
  SignUpInput: SignUpInput;
  TokenScope: TokenScope;
  User: ResolverTypeWrapper<Account>;
};

/** Mapping between all available schema types and the resolvers parents */
export type ResolversParentTypes = {
  AuditEntry: AuditEntry;
  ID: Scalars['ID']['output'];
  String: Scalars['String']['output'];
  ChangeEmailInput: ChangeEmailInput;
  ChangePasswordInput: ChangePasswordInput;
  CreatePersonalTokenInput: CreatePersonalTokenInput;
  DateTime: Scalars['DateTime']['output'];
  DeleteAccountInput: DeleteAccountInput;
  LinkIdentityInput: LinkIdentityInput;
  LinkedIdentity: LinkedIdentity;
  LoginInput: LoginInput;
  Mutation: Record<PropertyKey, never>;
  Boolean: Scalars['Boolean']['output'];
  Int: Scalars['Int']['output'];
  NewPersonalToken: NewPersonalToken;
  OpenSession: OpenSession;
  PersonalToken: PersonalToken;
  Query: Record<PropertyKey, never>;
  ResetPasswordInput: ResetPasswordInput;
  Session: OpenedSession;
  SignInProvider: SignInProvider;
  SignInWithCodeInput: SignInWithCodeInput;
  SignUpInput: SignUpInput;
  User: Account;
};

export type AuditEntryResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['AuditEntry'] = ResolversParentTypes['AuditEntry']> = {
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  ip?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  sessionId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type LinkedIdentityResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['LinkedIdentity'] = ResolversParentTypes['LinkedIdentity']> = {
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  issuer?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  lastUsedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type MutationResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
  changeName: Resolver<ResolversTypes['User'], ParentType, ContextType, RequireFields<MutationChangeNameArgs, 'name'>>;
  changePassword: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationChangePasswordArgs, 'input'>>;
  confirmEmailChange: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationConfirmEmailChangeArgs, 'token'>>;
  createPersonalToken: Resolver<ResolversTypes['NewPersonalToken'], ParentType, ContextType, RequireFields<MutationCreatePersonalTokenArgs, 'input'>>;
  deleteAccount: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationDeleteAccountArgs, 'input'>>;
  endOtherSessions: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  endPersonalToken: Resolver<ResolversTypes['ID'], ParentType, ContextType, RequireFields<MutationEndPersonalTokenArgs, 'id'>>;
  endSession: Resolver<ResolversTypes['ID'], ParentType, ContextType, RequireFields<MutationEndSessionArgs, 'id'>>;
  linkIdentity: Resolver<ResolversTypes['LinkedIdentity'], ParentType, ContextType, RequireFields<MutationLinkIdentityArgs, 'input'>>;
  login: Resolver<ResolversTypes['Session'], ParentType, ContextType, RequireFields<MutationLoginArgs, 'input'>>;
  logout: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  refreshSession: Resolver<ResolversTypes['Session'], ParentType, ContextType, RequireFields<MutationRefreshSessionArgs, 'refreshToken'>>;
  requestEmailChange: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationRequestEmailChangeArgs, 'input'>>;
  requestPasswordReset: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationRequestPasswordResetArgs, 'email'>>;
  resetPassword: Resolver<ResolversTypes['Boolean'], ParentType, ContextType, RequireFields<MutationResetPasswordArgs, 'input'>>;
  signInWithCode: Resolver<ResolversTypes['Session'], ParentType, ContextType, RequireFields<MutationSignInWithCodeArgs, 'input'>>;
  signUp: Resolver<ResolversTypes['Session'], ParentType, ContextType, RequireFields<MutationSignUpArgs, 'input'>>;
  unlinkIdentity: Resolver<ResolversTypes['ID'], ParentType, ContextType, RequireFields<MutationUnlinkIdentityArgs, 'id'>>;
};

export type NewPersonalTokenResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['NewPersonalToken'] = ResolversParentTypes['NewPersonalToken']> = {
  personalToken?: Resolver<ResolversTypes['PersonalToken'], ParentType, ContextType>;
  token?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type OpenSessionResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['OpenSession'] = ResolversParentTypes['OpenSession']> = {
  client?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  current?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  ip?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  lastUsedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type PersonalTokenResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['PersonalToken'] = ResolversParentTypes['PersonalToken']> = {
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  lastUsedAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  scope?: Resolver<ResolversTypes['TokenScope'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  auditEntries: Resolver<Array<ResolversTypes['AuditEntry']>, ParentType, ContextType, RequireFields<QueryAuditEntriesArgs, 'first'>>;
  linkedIdentities: Resolver<Array<ResolversTypes['LinkedIdentity']>, ParentType, ContextType>;
  me: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  personalTokens: Resolver<Array<ResolversTypes['PersonalToken']>, ParentType, ContextType>;
  sessions: Resolver<Array<ResolversTypes['OpenSession']>, ParentType, ContextType>;
  signInProvider: Resolver<Maybe<ResolversTypes['SignInProvider']>, ParentType, ContextType>;
};

export type SessionResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['Session'] = ResolversParentTypes['Session']> = {
  accessToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  expiresIn?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  refreshToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type SignInProviderResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['SignInProvider'] = ResolversParentTypes['SignInProvider']> = {
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type UserResolvers<ContextType = SubgraphContext, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User'], FederationReferenceType extends FederationReferenceTypes['User'] = FederationReferenceTypes['User']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['User']> | FederationReferenceType, FederationReferenceType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  emailConfirmedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type Resolvers<ContextType = SubgraphContext> = {
  AuditEntry?: AuditEntryResolvers<ContextType>;
  DateTime?: GraphQLScalarType;
  LinkedIdentity?: LinkedIdentityResolvers<ContextType>;
  Mutation?: MutationResolvers<ContextType>;
  NewPersonalToken?: NewPersonalTokenResolvers<ContextType>;
  OpenSession?: OpenSessionResolvers<ContextType>;
  PersonalToken?: PersonalTokenResolvers<ContextType>;
  Query?: QueryResolvers<ContextType>;
  Session?: SessionResolvers<ContextType>;
  SignInProvider?: SignInProviderResolvers<ContextType>;
  User?: UserResolvers<ContextType>;
};
