export { startEmbedded, type Embedded } from './start-embedded.ts';
