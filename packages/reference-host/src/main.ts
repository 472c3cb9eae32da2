// The process: configuration in, address out, signals down.
import { readConfig } from './config.ts'
import { startHost } from './host.ts'
import { curlLines } from './sandbox.ts'
import type { ReportFailure } from './server/app.ts'
import { DataDirInUse } from './storage/database.ts'

/** One JSON line a failure on stderr: which request, which kind of error, where. Never what the request held. */
const report: ReportFailure = ({ requestId, operation, error }) => {
  const { name, message, stack, code, cause } = error as Error & { code?: string }
  const reason = cause instanceof Error ? { cause: cause.message } : {}
  console.error(JSON.stringify({ requestId, operation, name, code, message, ...reason, stack }))
}

const config = readConfig(process.env)
if (!config.ok) {
  console.error(`Gatewright cannot start:\n${config.problems.map(problem => `  ${problem}`).join('\n')}`)
  process.exit(1)
}

try {
  const host = await startHost(config.value, { report })
  console.log(`${config.value.serviceName} listens on ${host.url}`)
  if (host.partnerKey !== undefined) {
    console.log('A sandbox partner key was made. It is shown this once; keep it:')
  } else {
    console.log('Set PARTNER_KEY to the key that the first start showed, then:')
  }
  console.log(`\n${curlLines(host.url, host.partnerKey)}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      console.log('Stopping: running requests finish first.')
      void host.close().then(() => process.exit(0))
    })
  }
} catch (error) {
  const { code, message, stack } = error as NodeJS.ErrnoException
  if (error instanceof DataDirInUse) console.error(`Gatewright cannot start:\n  ${message}`)
  else if (code === 'EADDRINUSE') {
    console.error(
      `Gatewright cannot start:\n  PORT ${config.value.port} is taken: stop what holds it, or set PORT`,
    )
  } else console.error(stack)
  process.exit(1)
}
