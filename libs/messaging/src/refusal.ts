/** What a broker calls a record that it will never take, however often it is sent. */
const FINAL_TYPES = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD']);

/**
 * Whether the reason for which a record was not taken is the record itself, as it is: everything else (no leader, no answer,
 * too few replicas, no permission) is about the log, and passes. `PublishError` gives such a reason only to the very record.
 */
export function isRefusedForGood(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if ('type' in each && FINAL_TYPES.has(String(each.type))) return true;
  return false;
}
