import { isUniqueViolation } from '@taskmesh/store';
import type { RequestOrigin } from '@taskmesh/internal-api';
import type { Clock, Ids } from '@taskmesh/service';
import { linkIdentityInput, parseInput, parseUuid } from '@taskmesh/contracts';
import type { SignedIn } from '../accounts/account-change.repository.ts';
import { wrongPassword } from '../accounts/account.errors.ts';
import type { PasswordCheckService } from '../accounts/password-check.service.ts';
import type { Limits } from '../rate-limits.ts';
import { hashOf } from '../opaque-token.ts';
import { lockOwner } from '../sessions/lock-owner.ts';
import { addLink, addNotice, isSameAddress, verifiedEmail } from './link-identity.ts';
import type { LinkedIdentity } from './linked-identity.entity.ts';
import { addressIsAnother, codeUnusable, isLastWayIn, isLinkedAlready, noSuchLink } from './oidc.errors.ts';
import type { OidcRepository } from './oidc.repository.ts';

/** What signed-in people do with their linked identities. */
export interface LinkedIdentityService {
  /** Newest first. */
  list(userId: string): Promise<LinkedIdentity[]>;
  /**
   * Needs the account's password, and the verified address must be the account's own: otherwise somebody could leave a way in to
   * an account whose address they do not own.
   * @throws AppError BAD_USER_INPUT, FORBIDDEN, CONFLICT, RATE_LIMITED, UNAUTHENTICATED when the session has ended meanwhile
   */
  link(user: SignedIn, input: unknown, origin: RequestOrigin): Promise<LinkedIdentity>;
  /** @throws AppError NOT_FOUND, CONFLICT for the last way into an account, UNAUTHENTICATED when the session has ended meanwhile */
  unlink(user: SignedIn, id: string, origin: RequestOrigin): Promise<string>;
}

export interface LinkedIdentityDeps {
  repository: OidcRepository;
  check: PasswordCheckService;
  limits: Pick<Limits, 'countProviderSignIn'>;
  clock: Clock;
  ids: Ids;
  /** Tells the worker that there is a mail to send. */
  onMail: () => void;
}

export function createLinkedIdentityService(deps: LinkedIdentityDeps): LinkedIdentityService {
  const { repository, check, limits, clock, ids, onMail } = deps;
  const now = () => new Date(clock.now());

  return {
    list: repository.list,
    async link(user, input, origin) {
      const { userId, sessionId } = user;
      const { code: token, verifier, password } = parseInput(linkIdentityInput, input);
      await limits.countProviderSignIn(origin.ip);
      const given = { hash: hashOf(token), challenge: hashOf(verifier) };
      const found = await repository.findCode(given, now());
      if (!found) throw codeUnusable();
      if (await repository.findLinked(found)) throw isLinkedAlready();
      const email = verifiedEmail(found);
      const known = await check.confirm(userId, password, 'password', origin);
      const linked = await repository
        .inTransaction(async (transaction) => {
          const at = now();
          const code = await transaction.lockCode(given, at);
          if (!code) throw codeUnusable();
          const account = await lockOwner(transaction, user);
          if (account.passwordVersion !== known.passwordVersion) throw wrongPassword('password');
          if (!isSameAddress(email, account.email)) throw addressIsAnother();
          const linking = { account, now: at, origin };
          addNotice(transaction, 'identity.linked', { id: ids.next(), ...linking });
          return addLink(transaction, { id: ids.next(), code, sessionId, ...linking });
        }, userId)
        .catch((error: unknown) => {
          throw isUniqueViolation(error, 'linked_identities_issuer_subject_key') ? isLinkedAlready() : error;
        });
      onMail();
      return linked;
    },
    async unlink(user, id, origin) {
      const { userId, sessionId } = user;
      const uuid = parseUuid(id);
      await repository.inTransaction(async (transaction) => {
        const account = await lockOwner(transaction, user);
        const all = await transaction.lockLinked(userId);
        const linked = all.find((each) => each.id === uuid);
        if (!linked) throw noSuchLink();
        if (!account.hasPassword && all.length === 1) throw isLastWayIn();
        const at = now();
        transaction.removeLinked(linked);
        transaction.record({ kind: 'identity.unlinked', at, accountId: userId, sessionId, origin });
        addNotice(transaction, 'identity.unlinked', { id: ids.next(), account, now: at, origin });
      }, userId);
      onMail();
      return uuid ?? id;
    },
  };
}
