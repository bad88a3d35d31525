/** What a broker calls a record that it will never take, however often it is sent. */
const FINAL_TYPES = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether the failure of a publish says that the log will never take what was sent, as it is. Of several records at once
 * it says that about all of them together: one that is sent alone may well be taken.
 */
export function isRefusedForGood(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if ('type' in each && FINAL_TYPES.has(String(each.type))) return true;
  return false;
}
