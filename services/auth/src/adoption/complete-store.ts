import type { Session } from '@taskmesh/database';
import { emailKey } from '../accounts/email-key.ts';
import { countBroken, keysToJudge, NEXT_KEYS } from './adoption.statements.ts';
import type { Columns } from './restored-tables.ts';
import { ACCOUNT_TYPES, BLANKS, rulesFor, SPACES } from './rules.ts';
import { inTransaction } from './transaction.ts';

/** Why the restored accounts do not make a store; undefined when they do, as far as can be said row by row. */
export async function whyIncomplete(session: Session, columns: Columns): Promise<string | undefined> {
  return missingColumns(columns) ?? (await brokenRules(session, columns)) ?? (await wrongKeys(session, columns));
}

function missingColumns(columns: Columns): string | undefined {
  if (columns.size === 0) return 'There is no table accounts.';
  const missing = Object.keys(ACCOUNT_TYPES).filter((name) => !columns.has(name));
  return missing.length > 0 ? `The table accounts is without ${missing.join(', ')}.` : undefined;
}

async function brokenRules(session: Session, columns: Columns): Promise<string | undefined> {
  const rules = rulesFor(columns);
  const [counts] = await session.run<Record<string, string>>(countBroken(rules), [SPACES, BLANKS]);
  const broken = rules.flatMap(({ sentence }, index) => {
    const count = Number(counts?.[`broken_${index}`]);
    return count > 0 ? [`${sentence} (not so in ${count})`] : [];
  });
  return broken.length > 0 ? `Rows of the table accounts break the rules: ${broken.join('; ')}.` : undefined;
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
