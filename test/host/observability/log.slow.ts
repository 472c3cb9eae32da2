import { once } from 'node:events'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import t from 'tap'
import { request } from '../../harness/host.ts'
import { listening } from './listening.ts'
import { plainNode } from '../../harness/node.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { temporaryFolder } from '../../harness/files.ts'

const folder = temporaryFolder(t)

for (const kind of ['pipe', 'socket']) {
  t.test(
    `a host whose log goes to a ${kind} that nobody reads serves on, counts lost lines, and stops`,
    async t => {
      const fifo = join(folder, `log-${kind}`)
      await once(spawn('sh', ['-c', 'mkfifo "$0"', fifo]), 'exit')
      // Open for both, so that the pipe has a reader, which never reads. Node makes sockets for its own pipes.
      const log = kind === 'pipe' ? openSync(fifo, 'r+') : 'pipe'
      const child = plainNode([PROGRAMS.host], {
        env: {
          PATH: process.env['PATH'],
          PORT: '0',
          DATA_DIR: join(folder, kind),
          LOG_LEVEL: 'info',
          RATE_LIMITS: 'off',
        },
        stdio: ['ignore', 'pipe', log],
      })
      t.teardown(() => child.kill('SIGKILL'))
      const exit = once(child, 'exit')
      const url = await listening(child)
      const path = `/user/v1/${'x'.repeat(900)}`
      const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`
      const linesLost = async (): Promise<number> => {
        const metrics = await (await fetch(`${url}/metrics`)).text()
        const [, lost = ''] = /^gatewright_log_lines_dropped_total (\d+)$/m.exec(metrics) ?? []
        return Number(lost)
      }
      let sent = 0
      for (; sent < 12_000 && (await linesLost()) === 0; sent += 50) {
        const many = Array.from({ length: 50 }, () => request(url, path, { headers: { traceparent } }))
        for (const { status } of await Promise.all(many)) if (status !== 404) t.equal(status, 404)
      }
      const lost = await linesLost()
      t.ok(lost > 0 && lost < sent, `${lost} of ${sent} lines were dropped`)
      child.kill('SIGTERM')
      t.same(await exit, [0, null])
    },
  )
}
