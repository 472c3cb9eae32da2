import { startFastify } from './servers.ts'
import { endToEnd } from './suite.ts'

endToEnd('Fastify 5', startFastify)
