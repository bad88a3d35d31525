/** Waits until `check` passes: messages between pages take a moment. */
export async function eventually(check: () => void | Promise<void>): Promise<void> {
  const until = Date.now() + 2_000;
  for (;;)
    try {
      return await check();
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
}
