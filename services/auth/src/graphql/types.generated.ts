import type { GraphQLResolveInfo, GraphQLScalarType, GraphQLScalarTypeConfig } from 'graphql';
import type { Account } from '../accounts/account.entity.ts';
import type { OpenedSession } from '../sessions/opened-session.ts';
import type { OwnSession } from '../sessions/own-sessions.service.ts';
import type { AuditEntry as StoredEntry } from '../audit/trail.repository.ts';
import type { LinkedIdentity as StoredIdentity } from '../oidc/linked-identity.entity.ts';
import type { PersonalToken as StoredToken } from '../personal-tokens/personal-token.entity.ts';
import type { AuthContext } from './context.ts';
export type Maybe<T> = T | null;
export type InputMaybe<T> = Maybe<T>;
export type Omit<T, K extends keyof T> = Pick<T, Exclude<keyof T, K>>;
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
  at: Scalars['DateTime']['output'];
  id: Scalars['ID']['output'];
  /** From which address. */
  ip?: Maybe<Scalars['String']['output']>;
  /** What it was, such as `session.opened`. */
  kind: Scalars['String']['output'];
  /** The session, or the personal token, that it is about. */
  sessionId?: Maybe<Scalars['ID']['output']>;
};

export type ChangeEmailInput = {
  /** The new address. */
  email: Scalars['String']['input'];
  /** The account's password. */
  password: Scalars['String']['input'];
};

export type ChangePasswordInput = {
  currentPassword: Scalars['String']['input'];
  newPassword: Scalars['String']['input'];
};

export type CreatePersonalTokenInput = {
  /** At most 366 days away. */
  expiresAt: Scalars['DateTime']['input'];
  name: Scalars['String']['input'];
  scope: TokenScope;
};

export type DeleteAccountInput = {
  /** The account's password. */
  password: Scalars['String']['input'];
};

export type LinkIdentityInput = {
  /** As `SignInWithCodeInput` has it, but 10 minutes old at most. */
  code: Scalars['String']['input'];
  /** The account's password. */
  password: Scalars['String']['input'];
  verifier: Scalars['String']['input'];
};

/** An identity at a provider that can sign in to the caller's account. */
export type LinkedIdentity = {
  __typename?: 'LinkedIdentity';
  createdAt: Scalars['DateTime']['output'];
  /** The verified address when it was linked. */
  email: Scalars['String']['output'];
  id: Scalars['ID']['output'];
  /** The provider's address. */
  issuer: Scalars['String']['output'];
  lastUsedAt: Scalars['DateTime']['output'];
};

export type LoginInput = {
  email: Scalars['String']['input'];
  password: Scalars['String']['input'];
};

export type Mutation = {
  __typename?: 'Mutation';
  changeName: User;
  /** Sets a new password, ends all other sessions, and tells the account's address. */
  changePassword: Scalars['Boolean']['output'];
  /**
   * Gives the account the address that the token was mailed to, and tells the former one. Needs a session of that account, or its
   * password: the token alone may be in a stranger's mailbox. A wrong password counts as a failed login and does not use up the token.
   */
  confirmEmailChange: Scalars['Boolean']['output'];
  /** Needs a session. An account has 100 living ones at most. */
  createPersonalToken: NewPersonalToken;
  /**
   * Deletes the caller's account with everything it owns, for good: all sessions and personal tokens end, its tasks end as
   * DELETE changes, and its address is free again. Needs a session; a personal token will not do.
   */
  deleteAccount: Scalars['Boolean']['output'];
  /** Ends all of the caller's sessions but the one that asks. Answers how many. */
  endOtherSessions: Scalars['Int']['output'];
  /** Ends one of the caller's tokens; needs a session. Answers its id. */
  endPersonalToken: Scalars['ID']['output'];
  /** Ends one of the caller's sessions: its tokens count no more. Answers its id. */
  endSession: Scalars['ID']['output'];
  /** Links an identity to the caller's account, which must have the same verified address. */
  linkIdentity: LinkedIdentity;
  /** Opens a session. An unknown address and a wrong password are answered alike. */
  login: Session;
  /** Ends the caller's session: its tokens count no more. */
  logout: Scalars['Boolean']['output'];
  /** Trades a refresh token for a new session state; a token that was used before ends the session. */
  refreshSession: Session;
  /** Mails a token to the new address. Always true: it never tells whether somebody else has that address. */
  requestEmailChange: Scalars['Boolean']['output'];
  /** Always true: it never tells whether the address is known. */
  requestPasswordReset: Scalars['Boolean']['output'];
  /** Sets a new password with the token of a recovery mail, and ends all sessions and personal tokens. */
  resetPassword: Scalars['Boolean']['output'];
  /**
   * Opens a session after a sign-in at the provider, and an account if none has the verified address. If one has it, the error is
   * LINK_REQUIRED: the same code with the password of that account works until 10 minutes after the browser came back.
   */
  signInWithCode: Session;
  /** Opens an account and a first session. */
  signUp: Session;
  /** Needs a session. The only identity of an account without a password stays. Answers its id. */
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

export type NewPersonalToken = {
  __typename?: 'NewPersonalToken';
  personalToken: PersonalToken;
  /** Shown this once: only its hash is stored. */
  token: Scalars['String']['output'];
};

/** A session of the caller's that can still be used. */
export type OpenSession = {
  __typename?: 'OpenSession';
  /** What that caller's program called itself (`User-Agent`). */
  client?: Maybe<Scalars['String']['output']>;
  createdAt: Scalars['DateTime']['output'];
  /** Whether the caller asks with this one. */
  current: Scalars['Boolean']['output'];
  id: Scalars['ID']['output'];
  /** The address of whoever opened it, or refreshed it last. */
  ip?: Maybe<Scalars['String']['output']>;
  /** Exact to a minute. */
  lastUsedAt: Scalars['DateTime']['output'];
};

/** A token that the caller made for a program. It is used like an access token. */
export type PersonalToken = {
  __typename?: 'PersonalToken';
  createdAt: Scalars['DateTime']['output'];
  expiresAt: Scalars['DateTime']['output'];
  id: Scalars['ID']['output'];
  /** Exact to a minute; null before its first use. */
  lastUsedAt?: Maybe<Scalars['DateTime']['output']>;
  name: Scalars['String']['output'];
  scope: TokenScope;
};

export type Query = {
  __typename?: 'Query';
  /** What happened to the caller's account, newest first. `first` is 1 to 1,000; `after` is the id of the entry to go on behind. */
  auditEntries: Array<AuditEntry>;
  /** Newest first. */
  linkedIdentities: Array<LinkedIdentity>;
  /** The caller. */
  me: User;
  /** The caller's tokens that still count, newest first. */
  personalTokens: Array<PersonalToken>;
  /** The caller's sessions, newest first, at most 1,000. */
  sessions: Array<OpenSession>;
  /** Null if none is configured. */
  signInProvider?: Maybe<SignInProvider>;
};


export type QueryAuditEntriesArgs = {
  after?: InputMaybe<Scalars['ID']['input']>;
  first?: InputMaybe<Scalars['Int']['input']>;
};

export type ResetPasswordInput = {
  newPassword: Scalars['String']['input'];
  token: Scalars['String']['input'];
};

export type Session = {
  __typename?: 'Session';
  accessToken: Scalars['String']['output'];
  /** Seconds until the access token expires. */
  expiresIn: Scalars['Int']['output'];
  /** Single use: each refresh returns a new one. */
  refreshToken: Scalars['String']['output'];
  user: User;
};

/** A provider where people can sign in. */
export type SignInProvider = {
  __typename?: 'SignInProvider';
  name: Scalars['String']['output'];
};

export type SignInWithCodeInput = {
  /** `sign_in_code` of the fragment that the browser came back with, a minute ago at most. */
  code: Scalars['String']['input'];
  /** The password of the account to link, after LINK_REQUIRED. */
  password?: InputMaybe<Scalars['String']['input']>;
  /** The secret that the challenge was made from. */
  verifier: Scalars['String']['input'];
};

export type SignUpInput = {
  email: Scalars['String']['input'];
  name: Scalars['String']['input'];
  password: Scalars['String']['input'];
};

export type TokenScope =
  /** Queries and subscriptions. */
  | 'READ'
  /** Mutations, too; but none that needs a session. */
  | 'WRITE';

/** A person with an account. Clients see only themselves. */
export type User = {
  __typename?: 'User';
  email: Scalars['String']['output'];
  emailConfirmedAt: Scalars['DateTime']['output'];
  id: Scalars['ID']['output'];
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
  AuditEntry: ResolverTypeWrapper<StoredEntry>;
  ID: ResolverTypeWrapper<Scalars['ID']['output']>;
  String: ResolverTypeWrapper<Scalars['String']['output']>;
  ChangeEmailInput: ChangeEmailInput;
  ChangePasswordInput: ChangePasswordInput;
  CreatePersonalTokenInput: CreatePersonalTokenInput;
  DateTime: ResolverTypeWrapper<Scalars['DateTime']['output']>;
  DeleteAccountInput: DeleteAccountInput;
  LinkIdentityInput: LinkIdentityInput;
  LinkedIdentity: ResolverTypeWrapper<StoredIdentity>;
  LoginInput: LoginInput;
  Mutation: ResolverTypeWrapper<Record<PropertyKey, never>>;
  Boolean: ResolverTypeWrapper<Scalars['Boolean']['output']>;
  Int: ResolverTypeWrapper<Scalars['Int']['output']>;
  NewPersonalToken: ResolverTypeWrapper<Omit<NewPersonalToken, 'personalToken'> & { personalToken: ResolversTypes['PersonalToken'] }>;
  OpenSession: ResolverTypeWrapper<OwnSession>;
  PersonalToken: ResolverTypeWrapper<StoredToken>;
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
  AuditEntry: StoredEntry;
  ID: Scalars['ID']['output'];
  String: Scalars['String']['output'];
  ChangeEmailInput: ChangeEmailInput;
  ChangePasswordInput: ChangePasswordInput;
  CreatePersonalTokenInput: CreatePersonalTokenInput;
  DateTime: Scalars['DateTime']['output'];
  DeleteAccountInput: DeleteAccountInput;
  LinkIdentityInput: LinkIdentityInput;
  LinkedIdentity: StoredIdentity;
  LoginInput: LoginInput;
  Mutation: Record<PropertyKey, never>;
  Boolean: Scalars['Boolean']['output'];
  Int: Scalars['Int']['output'];
  NewPersonalToken: Omit<NewPersonalToken, 'personalToken'> & { personalToken: ResolversParentTypes['PersonalToken'] };
  OpenSession: OwnSession;
  PersonalToken: StoredToken;
  Query: Record<PropertyKey, never>;
  ResetPasswordInput: ResetPasswordInput;
  Session: OpenedSession;
  SignInProvider: SignInProvider;
  SignInWithCodeInput: SignInWithCodeInput;
  SignUpInput: SignUpInput;
  User: Account;
};

export type AuditEntryResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['AuditEntry'] = ResolversParentTypes['AuditEntry']> = {
  at?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  ip?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  kind?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  sessionId?: Resolver<Maybe<ResolversTypes['ID']>, ParentType, ContextType>;
};

export interface DateTimeScalarConfig extends GraphQLScalarTypeConfig<ResolversTypes['DateTime'], any> {
  name: 'DateTime';
}

export type LinkedIdentityResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['LinkedIdentity'] = ResolversParentTypes['LinkedIdentity']> = {
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  issuer?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  lastUsedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type MutationResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['Mutation'] = ResolversParentTypes['Mutation']> = {
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

export type NewPersonalTokenResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['NewPersonalToken'] = ResolversParentTypes['NewPersonalToken']> = {
  personalToken?: Resolver<ResolversTypes['PersonalToken'], ParentType, ContextType>;
  token?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type OpenSessionResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['OpenSession'] = ResolversParentTypes['OpenSession']> = {
  client?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  current?: Resolver<ResolversTypes['Boolean'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  ip?: Resolver<Maybe<ResolversTypes['String']>, ParentType, ContextType>;
  lastUsedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
};

export type PersonalTokenResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['PersonalToken'] = ResolversParentTypes['PersonalToken']> = {
  createdAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  expiresAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  lastUsedAt?: Resolver<Maybe<ResolversTypes['DateTime']>, ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  scope?: Resolver<ResolversTypes['TokenScope'], ParentType, ContextType>;
};

export type QueryResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['Query'] = ResolversParentTypes['Query']> = {
  auditEntries: Resolver<Array<ResolversTypes['AuditEntry']>, ParentType, ContextType, RequireFields<QueryAuditEntriesArgs, 'first'>>;
  linkedIdentities: Resolver<Array<ResolversTypes['LinkedIdentity']>, ParentType, ContextType>;
  me: Resolver<ResolversTypes['User'], ParentType, ContextType>;
  personalTokens: Resolver<Array<ResolversTypes['PersonalToken']>, ParentType, ContextType>;
  sessions: Resolver<Array<ResolversTypes['OpenSession']>, ParentType, ContextType>;
  signInProvider: Resolver<Maybe<ResolversTypes['SignInProvider']>, ParentType, ContextType>;
};

export type SessionResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['Session'] = ResolversParentTypes['Session']> = {
  accessToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  expiresIn?: Resolver<ResolversTypes['Int'], ParentType, ContextType>;
  refreshToken?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  user?: Resolver<ResolversTypes['User'], ParentType, ContextType>;
};

export type SignInProviderResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['SignInProvider'] = ResolversParentTypes['SignInProvider']> = {
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type UserResolvers<ContextType = AuthContext, ParentType extends ResolversParentTypes['User'] = ResolversParentTypes['User'], FederationReferenceType extends FederationReferenceTypes['User'] = FederationReferenceTypes['User']> = {
  __resolveReference?: ReferenceResolver<Maybe<ResolversTypes['User']> | FederationReferenceType, FederationReferenceType, ContextType>;
  email?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
  emailConfirmedAt?: Resolver<ResolversTypes['DateTime'], ParentType, ContextType>;
  id?: Resolver<ResolversTypes['ID'], ParentType, ContextType>;
  name?: Resolver<ResolversTypes['String'], ParentType, ContextType>;
};

export type Resolvers<ContextType = AuthContext> = {
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
