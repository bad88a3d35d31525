it('fails before it closes what it opened', () => {
  Object.assign(globalThis, {
    goOn: () => Array.from({ length: 5 }, () => setInterval(() => undefined, 1_000)),
  });
  throw new Error('It fails midway.');
});
