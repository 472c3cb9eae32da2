// An entry of its own, so that only who needs it loads ipaddr.js.
export { addressBucket } from './addresses.ts'
