import { isUniqueViolation } from '@taskmesh/store';
import type { RequestOrigin } from '@taskmesh/internal-api';
import { isBlank, parseInput, signInWithCodeInput } from '@taskmesh/contracts';
import type { AccountTransaction, SubmittedCode } from '../accounts/account-transaction.repository.ts';
import type { Account } from '../accounts/account.entity.ts';
import type { StoredAccount } from '../accounts/account.repository.ts';
import { codeUnusable, linkRequired, wrongPassword } from '../auth.errors.ts';
import { emailKey } from '../accounts/email-key.ts';
import { hashOf } from '../opaque-token.ts';
import { dummyHash } from '../passwords/hasher.ts';
import type { OpenedSession, SessionIssueOptions } from '../sessions/new-session.ts';
import type { SessionService } from '../sessions/session.service.ts';
import { addLink, addNotice, verifiedEmail } from './linked-identity.service.ts';
import { opensSession, type SignInCode } from './oidc.entities.ts';
import type { CommonParts } from '../common-parts.ts';

/** Of concurrent sign-ins, unique indexes let one succeed; the others start over. */
const MAX_ATTEMPTS = 3;

export interface ProviderSignInService {
  /**
   * Opens a session of the linked account, of a new account, or of the account with the verified address, which it links if the
   * password is right. A wrong password does not use up the code.
   * @throws AppError BAD_USER_INPUT, FORBIDDEN without a verified address, LINK_REQUIRED, RATE_LIMITED, CONFLICT
   */
  signIn(input: unknown, options: SessionIssueOptions): Promise<OpenedSession>;
}

/** A name that the rules for names allow: the part before the @ may consist of invisible characters. */
function nameFrom(email: string): string {
  const local = email.slice(0, email.indexOf('@'));
  return isBlank(local) ? email : local;
}

/** Uses up a locked code, and locks the account that the session is for. */
type Step = (transaction: AccountTransaction, code: SignInCode, now: Date) => Promise<Account>;

export function createProviderSignInService(common: CommonParts, sessions: SessionService): ProviderSignInService {
  const { inTransaction, oidc, accounts, check, limits, clock, ids } = common;
  const now = () => new Date(clock.now());

  const enter: Step = async (transaction, code, at) => {
    const linked = await transaction.findLinked(code);
    const account = linked && (await transaction.lockAccount(linked.accountId));
    // While the account is locked, the link cannot be removed.
    const still = linked && account && (await transaction.reread(linked));
    if (!still) throw codeUnusable();
    still.lastUsedAt = at;
    transaction.remove(code);
    return account;
  };

  const register =
    (email: string, origin: RequestOrigin): Step =>
    async (transaction, code, at) => {
      const account = transaction.addAccount({
        ...{ id: ids.next(), email, emailKey: emailKey(email) ?? email, passwordHash: dummyHash(), now: at },
        name: code.name ?? nameFrom(email),
      });
      transaction.record({ kind: 'account.created', at, accountId: account.id, origin });
      addLink(transaction, { id: ids.next(), code, account, now: at, origin });
      return account;
    };

  const link =
    (known: StoredAccount, origin: RequestOrigin): Step =>
    async (transaction, code, at) => {
      const account = await transaction.lockAccount(known.account.id);
      if (account?.passwordVersion !== known.passwordVersion || account.emailKey !== emailKey(verifiedEmail(code)))
        throw wrongPassword('password');
      const linking = { account, now: at, origin };
      addLink(transaction, { id: ids.next(), code, ...linking });
      addNotice(transaction, 'identity.linked', { id: ids.next(), ...linking });
      return account;
    };

  /** Returns the step, and the id of the account that it locks, unless it opens a new one. */
  const stepFor = async (
    submitted: SubmittedCode,
    password: string | undefined,
    origin: RequestOrigin,
  ): Promise<[Step, accountId?: string]> => {
    const code = await oidc.findCode(submitted, now());
    if (!code) throw codeUnusable();
    // Reads the account before the link: if a concurrent sign-in has just opened the account, the link is visible, too.
    const known = code.email ? await accounts.findByEmail(code.email) : undefined;
    const linked = await oidc.findLinked(code);
    const requireFresh = () => {
      if (!opensSession(code, now())) throw codeUnusable();
    };
    if (linked) {
      requireFresh();
      return [enter, linked.accountId];
    }
    // Only from here on does the outcome reveal whether there is an account.
    const email = verifiedEmail(code);
    if (!known) {
      requireFresh();
      await limits.countSignUp(origin.ip);
      return [register(email, origin)];
    }
    if (password === undefined) throw linkRequired(email);
    return [link(await check.confirm(known.account.id, password, 'password', origin), origin), known.account.id];
  };

  return {
    async signIn(input, opening) {
      const { code: token, verifier, password } = parseInput(signInWithCodeInput, input);
      await limits.countProviderSignIn(opening.origin.ip);
      const submitted = { hash: hashOf(token), challenge: hashOf(verifier) };
      for (let attempt = 1; ; attempt++) {
        const [step, accountId] = await stepFor(submitted, password, opening.origin);
        try {
          return await inTransaction(async (transaction) => {
            const at = now();
            const code = await transaction.lockCode(submitted, at);
            if (!code) throw codeUnusable();
            return sessions.openIn(transaction, await step(transaction, code, at), opening);
          }, accountId);
        } catch (error) {
          if (!isUniqueViolation(error) || attempt === MAX_ATTEMPTS) throw error;
        }
      }
    },
  };
}
