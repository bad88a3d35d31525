it('changes its process', () => {
  process.env.LEFT = 'yes';
  process.on('SIGHUP', () => undefined);
  Math.random = () => 0;
});
