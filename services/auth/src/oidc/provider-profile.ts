import {
  fetchUserInfo,
  type Configuration,
  type IDToken,
  type TokenEndpointResponse,
  type TokenEndpointResponseHelpers,
} from 'openid-client';
import type { ProviderProfile } from './provider.ts';

/** Who the checked tokens are about. Some providers tell the address by their user info only. */
export async function readProfile(
  configuration: Configuration,
  tokens: TokenEndpointResponse & TokenEndpointResponseHelpers,
): Promise<ProviderProfile> {
  const claims = tokens.claims();
  if (!claims) throw new Error('The provider gave no ID token.');
  const hasMore = configuration.serverMetadata().userinfo_endpoint !== undefined;
  const { email, email_verified, name } =
    claims.email === undefined && hasMore
      ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : (claims as IDToken);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: textOf(email),
    emailVerified: email_verified === true,
    name: textOf(name),
  };
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined);
