/** What reads our output may end before us, as `head` does: what cannot be written then must not end the process. */
export function surviveClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
