/** What the page wants to know of a change; the same for the three protocols that speak GraphQL. */
export const SUBSCRIPTION = `subscription Changes($after: String) {
  taskChanges(after: $after) { cursor kind task { id title completed version } }
}`;

/** Grows with each failure, up to ten seconds, and differs from client to client, so that not all come back at once. */
export function waitMs(failures) {
  return Math.min(10_000, 250 * 2 ** failures) * (0.5 + Math.random() / 2);
}
