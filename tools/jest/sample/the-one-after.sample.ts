it('is there when what failed goes on', () => {
  (globalThis as unknown as { goOn(): void }).goOn();
});
