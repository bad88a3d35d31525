it('fails before it closes what it opened', () => {
  setInterval(() => undefined, 1_000);
  process.env.LEFT_MIDWAY = 'yes';
  throw new Error('It fails midway.');
});
