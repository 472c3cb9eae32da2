import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { rows } from '@gatewright/kernel/sql'
import t, { type Test } from 'tap'
import { uniqueName } from '../../harness/stores.ts'
import type { Tally } from './duplicates.child.ts'
import { NO_STEPS, openStore, prepare, transfers } from './stores.ts'

const HOST = fileURLToPath(new URL('duplicates.child.js', import.meta.url))
const PROCESSES = 4
const DUPLICATES = 1000

/** Starts a host process; `go` lets it serve its duplicates and gives what its clients got. */
async function startHost(schema: string, mode: string, t: Test): Promise<{ go(): Promise<Tally> }> {
  const args = [HOST, schema, mode, String(DUPLICATES / PROCESSES)]
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => String((await lines.next()).value)
  if ((await next()) !== 'ready') throw new Error('the host did not start')
  return {
    async go() {
      child.stdin.write('go\n')
      const tally = JSON.parse(await next()) as Tally
      if (child.exitCode === null) await once(child, 'exit')
      return tally
    },
  }
}

t.setTimeout(1_800_000)

for (const mode of ['transactional', 'two-phase']) {
  void t.test(`1,000 duplicates at once over 4 processes, ${mode}: one effect, no exhaustion`, async t => {
    const schema = uniqueName()
    const { db, close } = await openStore('postgres', schema, NO_STEPS)
    t.teardown(async () => {
      await rows(db, `drop schema ${schema} cascade`)
      await close()
    })
    await prepare('postgres', db)
    const hosts = await Promise.all(Array.from({ length: PROCESSES }, () => startHost(schema, mode, t)))
    const tallies = await Promise.all(hosts.map(host => host.go()))

    const sum = (pick: (tally: Tally) => number): number =>
      tallies.reduce((total, tally) => total + pick(tally), 0)
    const [fresh, replayed, inProgress] = [
      sum(tally => tally.fresh),
      sum(tally => tally.replayed),
      sum(tally => tally.inProgress),
    ]
    t.equal(await transfers(db), 1, 'money moved once')
    t.equal(fresh, 1, 'one client got the first response')
    t.equal(fresh + replayed + inProgress, DUPLICATES, 'the others a replay or request_in_progress')
    t.same(
      tallies.flatMap(tally => tally.others),
      [],
      'and nothing else',
    )
    const took = Math.max(...tallies.map(tally => tally.tookMs))
    const query = Math.max(...tallies.map(tally => tally.longestQueryMs))
    t.ok(took < 10_000, `nothing hangs: ${took} ms`)
    t.ok(query < 2_000, `the pool is not exhausted: an unrelated query waited at most ${query} ms`)
    const got = `${replayed} replays, ${inProgress} in progress`
    t.comment(`measured ${mode}: 1 effect, ${got}, all in ${took} ms, unrelated queries at most ${query} ms`)
  })
}
