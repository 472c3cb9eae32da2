import { startNode } from './servers.ts'
import { endToEnd } from './suite.ts'

endToEnd('plain node http', startNode)
