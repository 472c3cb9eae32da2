// To be imported before tap: it follows every promise and timer of the process by this function, which takes a tenth of its CPU
// time. Nothing else in a process of tests uses it. Without it, an error that nobody handles fails the run or ends the process, and
// files that have not ended have failed.
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

const follows = { enable: () => follows, disable: () => follows }
Object.assign(asyncHooks, { createHook: () => follows })
syncBuiltinESMExports()
