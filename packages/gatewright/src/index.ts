// What is the same for every framework and store.
export { nothingHappened } from '@gatewright/kernel'
export type { GatewrightOptions } from './options.ts'
export type { OpenRequest, PathParams, Protecting, ReadRequest, WriteRequest } from './requests.ts'
export type { Store } from './stores/store.ts'
