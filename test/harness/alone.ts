// Runs one test file in this process. Argument: a compiled test file. The hooks of `several.ts` would take two seconds of CPU.
import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { FILE_USED, usedCpuMs } from './cpu-time.ts'

// What tap imports follows every promise and timer of the process by this function, which takes a tenth of its CPU time
// (`own-domain.ts`). Nothing else here uses it.
const follows = { enable: () => follows, disable: () => follows }
Object.assign(asyncHooks, { createHook: () => follows })
syncBuiltinESMExports()
const [file = ''] = process.argv.slice(2)
// The servers have worked for other files.
const before = usedCpuMs()
process.once('exit', () => console.log(`${FILE_USED} ${usedCpuMs() - before} ${file}`))
await import(pathToFileURL(resolve(file)).href)
