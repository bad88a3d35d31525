import { brokenRules, inTransaction, missingColumns, type Columns, type Session } from '@taskmesh/database';
import { emailKey } from '../accounts/email-key.ts';
import { keysToJudge, NEXT_KEYS } from './adoption.statements.ts';
import { ACCOUNT_TYPES, BLANKS, rulesFor, SPACES } from './rules.ts';

/** Why the restored accounts do not make a store; undefined when they do, as far as can be said row by row. */
export async function whyIncomplete(session: Session, columns: Columns): Promise<string | undefined> {
  return (
    missingColumns('accounts', Object.keys(ACCOUNT_TYPES), columns) ??
    (await brokenRules(session, 'accounts', rulesFor(columns), [SPACES, BLANKS])) ??
    (await wrongKeys(session, columns))
  );
}

/** Addresses beyond ASCII are rare, and what makes them unique is not SQL: these few rows are looked at here. */
function wrongKeys(session: Session, columns: Columns): Promise<string | undefined> {
  return inTransaction(session, async () => {
    await session.run(keysToJudge(columns));
    for (;;) {
      const rows = await session.run<{ email: string; key: string }>(NEXT_KEYS);
      if (rows.length === 0) return undefined;
      if (rows.some(({ email, key }) => emailKey(email) !== key))
        return 'Rows of the table accounts break the rules: email_key is made from email.';
    }
  });
}
