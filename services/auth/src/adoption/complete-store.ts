import { brokenRules, inTransaction, STORE, type Session } from '@taskmesh/database';
import { emailKey } from '../accounts/email-key.ts';
import { keysToJudge, NEXT_KEYS, type Accounts } from './adoption.statements.ts';
import { BLANKS, rulesFor, SPACES, VERSION_RULE } from './rules.ts';

/** Why the accounts do not make a store; undefined when they do, as far as can be said row by row. */
export async function whyIncomplete(session: Session, accounts: Accounts): Promise<string | undefined> {
  const { schema, columns } = accounts;
  const rules = schema === STORE ? [...rulesFor(columns), VERSION_RULE] : rulesFor(columns);
  return (
    (await brokenRules(session, { schema, table: 'accounts' }, rules, [SPACES, BLANKS])) ??
    (await wrongKeys(session, accounts))
  );
}

/** Addresses beyond ASCII are rare, and what makes them unique is not SQL: these few rows are looked at here. */
function wrongKeys(session: Session, accounts: Accounts): Promise<string | undefined> {
  return inTransaction(session, async () => {
    await session.run(keysToJudge(accounts));
    for (;;) {
      const rows = await session.run<{ email: string; key: string }>(NEXT_KEYS);
      if (rows.length === 0) return undefined;
      if (rows.some(({ email, key }) => emailKey(email) !== key))
        return 'Rows of the table accounts break the rules: email_key is made from email.';
    }
  });
}
