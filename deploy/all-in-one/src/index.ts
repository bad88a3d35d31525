export { startEmbedded, type Embedded, type EmbeddedOptions } from './start-embedded.ts';
