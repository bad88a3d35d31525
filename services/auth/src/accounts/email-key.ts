/**
 * Returns the form that all spellings of an address share, regardless of case and of how accented letters are encoded.
 * Returns undefined for text that cannot be stored, and so cannot be an account's address.
 */
export function emailKey(email: string): string | undefined {
  if (!email.isWellFormed() || email.includes('\0')) return undefined;
  return email.trim().normalize('NFC').toLowerCase();
}
