// A separate host process for the fuzzer. It reports its address, and its heap after a garbage collection on
// request.
import { readConfig, startHost } from '@gatewright/reference-host'

const config = readConfig(process.env)
if (!config.ok) throw new Error(config.problems.join('; '))
const unexpected: string[] = []
const host = await startHost(config.value, {
  observe: ({ status, operation, failure }) => {
    if (status >= 500)
      unexpected.push(`${operation}: ${failure instanceof Error ? failure.stack : String(failure)}`)
  },
  report: error => unexpected.push(String(error)),
})
process.on('message', message => {
  if (message === 'stop') void host.close().then(() => process.exit(0))
  if (message !== 'heap') return
  globalThis.gc?.()
  process.send?.({ heapBytes: process.memoryUsage().heapUsed, unexpected })
})
process.send?.({ url: host.url, partnerKey: host.partnerKey })
