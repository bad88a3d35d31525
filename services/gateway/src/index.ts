export { createGateway, type Gateway, type GatewayDeps } from './create-gateway.ts';
export { readGatewayConfig, type GatewayConfig } from './config.ts';
export type { Connections } from './connections/connections.ts';
export { connectHttp } from './connections/over-http.ts';
export { connectInProcess, type InProcessServices } from './connections/in-process.ts';
