it('leaves what closes by itself', () => {
  setTimeout(() => undefined, 200);
});
