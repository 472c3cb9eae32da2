export { readHostConfig } from './config/host-config.ts'
export { oneOf } from './config/parsers.ts'
export { optional, variable } from './config/variable.ts'
