import { once } from 'node:events'
import { existsSync } from 'node:fs'
import t from 'tap'
import { startChild } from '../harness/child.ts'

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

t.test('a bench that is ended by a signal ends the servers that it started', async t => {
  const bench = startChild(new URL('./exit-on-signals.child.js', import.meta.url))
  const [{ pid, directory }] = (await once(bench, 'message')) as [{ pid: number; directory: string }]
  t.ok(isRunning(pid))
  bench.kill('SIGTERM')
  t.same(await once(bench, 'exit'), [143, null])
  while (isRunning(pid)) await new Promise(resolve => setTimeout(resolve, 5))
  t.notOk(existsSync(directory))
})
