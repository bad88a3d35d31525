import type { Identity } from '@taskmesh/identity';
import type { SubgraphResult } from '@taskmesh/subgraph';

export const SIGN_UP = `mutation ($input: SignUpInput!) {
  signUp(input: $input) { accessToken refreshToken expiresIn user { id email name emailConfirmedAt } }
}`;
/** As REST requests it: without a refresh token. */
export const SIGN_UP_PLAIN = `mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken user { id } } }`;
export const LOGIN = `mutation ($input: LoginInput!) {
  login(input: $input) { accessToken refreshToken expiresIn user { id email } }
}`;
export const LOGIN_PLAIN = `mutation ($input: LoginInput!) { login(input: $input) { accessToken } }`;
export const REFRESH = `mutation ($token: String!) {
  refreshSession(refreshToken: $token) { accessToken refreshToken expiresIn user { id } }
}`;
export const LOGOUT = 'mutation { logout }';
export const REQUEST_RESET = 'mutation ($email: String!) { requestPasswordReset(email: $email) }';
export const RESET = 'mutation ($input: ResetPasswordInput!) { resetPassword(input: $input) }';
export const SESSIONS = '{ sessions { id createdAt lastUsedAt ip client current } }';
export const END_SESSION = 'mutation ($id: ID!) { endSession(id: $id) }';
export const END_OTHERS = 'mutation { endOtherSessions }';
export const CHANGE_NAME = 'mutation ($name: String!) { changeName(name: $name) { id name } }';
export const CHANGE_PASSWORD = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) }';
export const CHANGE_EMAIL = 'mutation ($input: ChangeEmailInput!) { requestEmailChange(input: $input) }';
export const CONFIRM_EMAIL =
  'mutation ($token: String!, $password: String) { confirmEmailChange(token: $token, password: $password) }';
export const DELETE_ACCOUNT = 'mutation ($input: DeleteAccountInput!) { deleteAccount(input: $input) }';
export const TOKENS = '{ personalTokens { id name scope createdAt expiresAt lastUsedAt } }';
export const CREATE_TOKEN = `mutation ($input: CreatePersonalTokenInput!) {
  createPersonalToken(input: $input) { token personalToken { id name scope createdAt expiresAt lastUsedAt } }
}`;
export const END_TOKEN = 'mutation ($id: ID!) { endPersonalToken(id: $id) }';
export const ME = '{ me { id email name emailConfirmedAt } }';

export interface OpenSession {
  userId: string;
  sessionId: string;
  accessToken: string;
  refreshToken: string;
  identity: Identity;
}

export function sessionOf(result: SubgraphResult, field: string): OpenSession {
  if (result.errors) throw new Error(JSON.stringify(result.errors));
  const { accessToken, refreshToken } = result.data?.[field] as Record<string, string>;
  const { userId, sessionId } = result.extensions?.session as Record<string, string>;
  if (!accessToken || !refreshToken || !userId || !sessionId) throw new Error(JSON.stringify(result));
  const identity: Identity = { role: 'user', userId, sessionId, ip: '192.0.2.1' };
  return { userId, sessionId, accessToken, refreshToken, identity };
}

/** A personal token as its creation returns it. */
export interface NewToken {
  token: string;
  personalToken: Record<'id' | 'name' | 'scope' | 'createdAt' | 'expiresAt', string> & { lastUsedAt: string | null };
}

export function tokenOf({ data, errors }: SubgraphResult): NewToken {
  if (errors) throw new Error(JSON.stringify(errors));
  return data?.createPersonalToken as NewToken;
}

export const codeOf = ({ errors }: SubgraphResult): unknown => errors?.[0]?.extensions?.code;

/** How often each code occurs in these results; a result without an error is `ok`. */
export async function outcomesOf(attempts: Promise<SubgraphResult>[]): Promise<Record<string, number>> {
  const codes = (await Promise.all(attempts)).map((result) => String(codeOf(result) ?? 'ok'));
  return Object.fromEntries([...Map.groupBy(codes, (code) => code)].map(([code, all]) => [code, all.length]));
}
