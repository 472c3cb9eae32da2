import { rows, type SqlClient } from '@gatewright/kernel/sql'
import type { SqlDialect } from '@gatewright/kernel/internal/sql'
import { manualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import * as internals from '../harness/internals.ts'
import { openPostgres, openSqlite } from '../harness/stores.ts'

const { jobQueue, jobRounds, migrateHost } = internals
const DIALECTS: readonly SqlDialect[] = ['sqlite', 'postgres']

for (const dialect of DIALECTS) {
  t.test(`a provider that never responds delays no job of another kind, on ${dialect}`, async t => {
    const open = dialect === 'postgres' ? openPostgres : openSqlite
    const { connections, close } = await open(1, db => migrateHost(db))
    t.teardown(close)
    const [db] = connections as [SqlClient]
    const clock = manualClock()
    const stop = new AbortController()
    const stopped = new Promise(resolve => stop.signal.addEventListener('abort', resolve))
    let asked = 0
    /** Resolves the wait of the test for the next sent withdrawal. */
    let sent = (_id: string): void => {}
    const nextSent = (): Promise<string> => new Promise(resolve => (sent = resolve))
    const jobs = jobQueue({
      db,
      clock,
      report: () => {},
      handlers: {
        'kyc.submit': async () => {
          asked += 1
          await stopped
          return 'again'
        },
        'withdrawal.send':
          async ({ subjectId }) =>
          async () =>
            sent(subjectId),
      },
    })
    const add = (kind: string, id: string): Promise<void> =>
      db.transaction(tx => jobs.add(tx, { kind, accountId: 'acc_1', subjectId: id }, clock.now()))
    for (let n = 0; n < 100; n += 1) await add('kyc.submit', `kyc_${n}`)
    clock.advance(1000)
    await add('withdrawal.send', 'wd_1')

    const first = nextSent()
    const rounds = jobRounds(jobs)
    const hanging = rounds.map(round => round.run(stop.signal))
    t.equal(await first, 'wd_1', 'although 100 earlier jobs of the other kind are due')
    await Promise.race(hanging)

    await add('withdrawal.send', 'wd_2')
    const second = nextSent()
    const next = rounds.find(({ name }) => name.includes('withdrawal.send'))?.run(stop.signal)
    t.equal(await second, 'wd_2', 'in the next round, while the first round of the other kind goes on')
    await next
    t.equal(asked, 16, 'one provider is asked for so many at once')
    const left = await rows(db, 'select kind from gw_jobs group by kind')
    t.same(left, [{ kind: 'kyc.submit' }])
    stop.abort()
    await Promise.all(hanging)
  })
}
