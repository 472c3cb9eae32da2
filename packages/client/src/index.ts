import type * as Schemas from './generated/schemas.ts'

export { createClient } from './client.ts'
export { GatewrightError } from './problem.ts'
export type { Client, ClientOptions } from './client.ts'
export type { Problem } from './problem.ts'
export type { Schemas }
