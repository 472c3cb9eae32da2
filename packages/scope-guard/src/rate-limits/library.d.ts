// Types for the files of rate-limiter-flexible that are imported without its main entry.
declare module 'rate-limiter-flexible/lib/RLWrapperTimeouts.js' {
  export { RLWrapperTimeouts as default } from 'rate-limiter-flexible'
}
