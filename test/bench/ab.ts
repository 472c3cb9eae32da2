// CPU per request of this build's host against that of another checkout, which is built already; both alternate. Argument: its folder.
// Run it by `npm run bench -- ab FOLDER`.
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { hostLines, type HostLine } from './host-lines.ts'
import { hostPlan, hostSide, serverModule } from './host-sides.ts'
import { compareServerLines, type ServerLine } from './http.ts'
import { table } from './report.ts'

const [, folder] = process.argv.slice(2)
if (folder === undefined)
  throw new Error('name the folder of a checkout that is built: npm run bench -- ab FOLDER')
const benches = pathToFileURL(resolve(folder, 'build/test/bench') + '/')

const compared = (line: HostLine): ServerLine => {
  const ours = hostSide('this build', line)
  const other = { ...ours, name: folder, module: serverModule('host', benches), process: 'other' }
  return { title: `a-b: ${line.name}`, ours, peers: [other], requests: line.requests }
}
await compareServerLines(hostLines.map(compared), {
  ...hostPlan,
  // Not saved: the folder is not there at the next comparison.
  report: result => console.log(`${table(result)}\n`),
})
