import { startKoa } from './servers.ts'
import { endToEnd } from './suite.ts'

endToEnd('Koa', startKoa)
