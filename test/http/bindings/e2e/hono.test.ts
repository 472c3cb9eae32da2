import { startHono } from './servers.ts'
import { endToEnd } from './suite.ts'

endToEnd('Hono', startHono)
