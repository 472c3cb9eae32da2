// An entry for servers on Node only: the library behind it needs Node, and other runtimes load the main entry.
export { readRawBody } from './request/raw-body.ts'
export type { RequestDenial } from './codes.ts'
