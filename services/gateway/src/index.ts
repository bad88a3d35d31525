export { createGateway, type Gateway, type GatewayDeps } from './create-gateway.ts';
export { readGatewayConfig, type GatewayConfig } from './config.ts';
export type { Connections } from './connections.ts';
export { connectHttp } from './connect-http.ts';
export { connectInProcess, type InProcessServices } from './connect-in-process.ts';
