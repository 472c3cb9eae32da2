import * as partner from './generated/partner.ts'
import type * as Schemas from './generated/schemas.ts'
import * as user from './generated/user.ts'

export { createClient } from './client.ts'
export { GatewrightError } from './problem.ts'
export { partner, user }
export type { Client, ClientOptions } from './client.ts'
export type { Problem } from './problem.ts'
export type { Schemas }
