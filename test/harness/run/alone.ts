// Runs one test file in this process. Argument: a compiled test file.
// oxlint-disable-next-line import/no-unassigned-import -- before tap is loaded.
import './no-async-hooks.ts'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { FILE_USED, usedCpuMs } from './cpu-time.ts'
import { keepIdleConnections } from './keep-alive.ts'

keepIdleConnections()
const [file = ''] = process.argv.slice(2)
// The servers have worked for other files.
const before = usedCpuMs()
process.once('exit', () => console.log(`# ${FILE_USED} ${usedCpuMs() - before} ${file}`))
await import(pathToFileURL(resolve(file)).href)
