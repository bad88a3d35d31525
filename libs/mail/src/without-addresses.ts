/** Mail servers repeat the recipient in what they answer; blanks do not occur in our addresses. */
const ADDRESS = /\S*@\S*/g;

/** What may be logged of a mail that was not sent. The library's own error also lists the recipients. */
export function withoutAddresses(error: unknown): Error {
  const { message, code, responseCode, command } = error as Error &
    Record<'code' | 'responseCode' | 'command', unknown>; // as far as it has them
  return Object.assign(new Error(String(message).replace(ADDRESS, '[address]')), { code, responseCode, command });
}
