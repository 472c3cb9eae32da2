export { readConfig } from './config.ts'
export { startHost } from './host.ts'
export type { Config, ConfigResult, NamedSecret, RateLimits } from './config.ts'
export type { RunningHost, StartOptions } from './host.ts'
