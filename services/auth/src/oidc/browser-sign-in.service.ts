import type { AuthSignIn } from '@taskmesh/internal-api';
import { beginSignInInput, parseInput } from '@taskmesh/contracts';
import { createOpaqueToken, hashOf } from '../opaque-token.ts';
import { CODE_MS } from './oidc.entities.ts';
import { providerNotConfigured, signInNotStartedHere } from '../auth.errors.ts';
import {
  bindingOf,
  reasonOf,
  secretsIn,
  type Provider,
  type ProviderResult,
  type ProviderProfile,
  type SignInSecrets,
} from './provider.ts';
import type { CommonParts } from '../common-parts.ts';

const PENDING_MS = 10 * 60_000;
/** Limits the provider's error description, which becomes part of a URL. */
const MAX_DESCRIPTION_LENGTH = 300;

/**
 * Sends a browser to the provider and back to the page that started the sign-in, which receives a code that opens the session.
 * `provider` is undefined when none is configured.
 */
export function createBrowserSignInService(common: CommonParts, provider: Provider | undefined): AuthSignIn {
  const { oidc, limits, clock, log } = common;
  const inMs = (ms: number) => ({ createdAt: new Date(clock.now()), expiresAt: new Date(clock.now() + ms) });

  /** The parameters that the page finds after `#`. */
  const outcomeOf = async (result: ProviderResult, challenge: string): Promise<Record<string, string>> => {
    if ('profile' in result) return { sign_in_code: await storeCode(result.profile, challenge) };
    const { error, error_description: description } = result.refusal;
    return {
      sign_in_error: /^[a-z_]{1,64}$/.test(error) ? error : 'server_error',
      ...(description && { sign_in_error_description: description.slice(0, MAX_DESCRIPTION_LENGTH).toWellFormed() }),
    };
  };

  const storeCode = async (profile: ProviderProfile, challenge: string): Promise<string> => {
    const { issuer, subject, email, emailVerified, name } = profile;
    const { token, hash } = createOpaqueToken();
    await oidc.addCode({
      ...{ hash, challenge, issuer, subject, emailVerified, ...inMs(CODE_MS) },
      ...{ email: email ?? null, name: name ?? null },
    });
    return token;
  };

  const finishSignIn = async ({ finish }: Provider, search: string, secrets: SignInSecrets) => {
    try {
      return await finish(search, secrets);
    } catch (error) {
      log.warn({ reason: reasonOf(error) }, 'a sign-in at the provider failed');
      return FAILED_RESULT;
    }
  };

  return {
    async begin(input, { ip }) {
      if (!provider) throw providerNotConfigured();
      const { returnTo, codeChallenge: challenge } = parseInput(beginSignInInput, input);
      await limits.countProviderSignIn(ip);
      const { location, secrets } = await provider.begin();
      const binding = bindingOf(secrets);
      await oidc.addPending({ hash: hashOf(binding), challenge, returnTo, ...inMs(PENDING_MS) });
      return { location, binding };
    },
    async complete({ binding, search }, { ip }) {
      if (!provider) throw providerNotConfigured();
      const secrets = secretsIn(binding ?? '');
      // A link from another site must use up neither the sign-in that this browser has started nor the network's limit.
      if (!binding || !secrets || new URLSearchParams(search).get('state') !== secrets.state)
        throw signInNotStartedHere();
      await limits.countProviderSignIn(ip);
      const pending = await oidc.consumePending(hashOf(binding), new Date(clock.now()));
      if (!pending) throw signInNotStartedHere();
      const outcome = await outcomeOf(await finishSignIn(provider, search, secrets), pending.challenge);
      return { location: `${pending.returnTo}#${new URLSearchParams(outcome).toString()}` };
    },
  };
}

const FAILED_RESULT: ProviderResult = {
  refusal: {
    error: 'sign_in_failed',
    error_description: 'The sign-in at the provider could not be completed: try again.',
  },
};
