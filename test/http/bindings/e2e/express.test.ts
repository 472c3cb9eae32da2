import { startExpress } from './servers.ts'
import { endToEnd } from './suite.ts'

endToEnd('Express 5', startExpress)
