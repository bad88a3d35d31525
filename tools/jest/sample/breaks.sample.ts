process.env.BROKEN = 'yes';
throw new Error('It breaks.');
