import { inTransaction, type Session, type Statement, valueOf, type Columns } from '@taskmesh/store';
import { emailKey } from '../accounts/email-key.ts';

/** SQL condition. For ASCII, PostgreSQL's lower() does all that `emailKey` does. */
export const isAscii = (text: string): string => `${text} !~ '[^\\u0001-\\u007f]'`;

/** Opens the cursor that `NEXT_KEYS` reads. */
function openKeys(schema: string, columns: Columns): Statement {
  const [email, key] = [valueOf(columns, 'email', 'text'), valueOf(columns, 'email_key', 'text')];
  return {
    name: 'import-open-keys',
    text: `declare email_keys no scroll cursor for
      select ${email} as email, ${key} as key from ${schema}.accounts r where not (${isAscii(email)})`,
  };
}

const NEXT_KEYS: Statement = { name: 'import-next-keys', text: 'fetch 1000 from email_keys' };

/** Checks addresses beyond ASCII here: they are rare, and SQL cannot compute their keys. */
export function checkEmailKeys(session: Session, schema: string, columns: Columns): Promise<string | undefined> {
  return inTransaction(session, async () => {
    await session.run(openKeys(schema, columns));
    for (;;) {
      const rows = await session.run<{ email: string; key: string }>(NEXT_KEYS);
      if (rows.length === 0) return undefined;
      if (rows.some(({ email, key }) => emailKey(email) !== key))
        return 'Rows of the table accounts break the rules: email_key is made from email.';
    }
  });
}
