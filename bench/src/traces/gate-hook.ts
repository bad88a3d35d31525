// Loaded into a platform before its own code: it records no trace until SIGUSR2, and none again from the next one on.
const { random } = Math;
let isOpen = false;
Math.random = () => (isOpen ? random() : 0.5 + random() / 2);
process.on('SIGUSR2', () => (isOpen = !isOpen));
