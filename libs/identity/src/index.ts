export * from './identity.ts';
export * from './keys.ts';
export * from './internal-token.ts';
export * from './access-token.ts';
export { ExpiringCache } from './expiring-cache.ts';
