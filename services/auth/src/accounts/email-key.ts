/**
 * What two spellings of one address have in common: upper and lower case are the same, and so are the ways to write an
 * accented letter. Undefined for text that cannot be stored, and so cannot be an account's address.
 */
export function emailKey(email: string): string | undefined {
  if (!email.isWellFormed() || email.includes('\0')) return undefined;
  return email.trim().normalize('NFC').toLowerCase();
}
