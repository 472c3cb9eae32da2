export { gatewright, memoryStore, nothingHappened } from './express.ts'
export type {
  ExpressGatewright,
  ExpressOptions,
  OpenRequest,
  ReadRequest,
  Store,
  WriteRequest,
} from './express.ts'
