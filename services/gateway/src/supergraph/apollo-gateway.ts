import type * as ApolloGateway from '@apollo/gateway';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Holds some 30 MiB: loaded only where its executor runs. */
export const apolloGateway = () => require('@apollo/gateway') as typeof ApolloGateway;
