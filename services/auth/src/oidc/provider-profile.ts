import { email as address, name as accountName } from '@taskmesh/contracts';
import {
  fetchUserInfo,
  type Configuration,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
  type UserInfoResponse,
} from 'openid-client';
import type { ProviderProfile } from './provider.ts';

/** As OpenID Connect defines it. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** An identity at a provider. */
export type Subject = Pick<ProviderProfile, 'issuer' | 'subject'>;

/**
 * Reads whom the validated tokens are about. Some providers give the address, or whether it is verified, only in the user info, which
 * an identity that is linked can do without. An address or a name that breaks our own rules counts as absent.
 */
export async function readProfile(
  configuration: Configuration,
  tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
  isLinked: (identity: Subject) => Promise<boolean>,
): Promise<ProviderProfile> {
  const claims = tokens.claims();
  if (!claims) throw new Error('The provider gave no ID token.');
  if (!SUBJECT.test(claims.sub)) throw new Error('The subject of the ID token is malformed.');
  const identity = { issuer: claims.iss, subject: claims.sub };
  const isComplete = claims.email !== undefined && claims.email_verified !== undefined;
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
  // Rejects the user info of another subject.
  const ask = () => fetchUserInfo(configuration, tokens.access_token, claims.sub);
  const more =
    isComplete || !hasMore
      ? {}
      : await ask().catch(async (error: unknown) => {
          if (await isLinked(identity)) return {};
          throw error;
        });
  const { email, email_verified, name }: Partial<UserInfoResponse> = { ...claims, ...more };
  return {
    ...identity,
    email: address.safeParse(email).data,
    emailVerified: String(email_verified) === 'true', // a text at Apple
    name: accountName.safeParse(name).data,
  };
}
