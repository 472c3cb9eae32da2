// A host is killed at every statement of a submission, of a later round of its job and of a provider's event, on both
// databases. The next host is asked the same again: every application is there, was submitted once and decided once.
import { rows } from '@gatewright/kernel/sql'
import { manualClock, type ManualClock } from '@gatewright/kernel/testing'
import t from 'tap'
import { freshPlace, killsBefore, killsDuring, type Act } from '../../harness/kill-place.ts'
import { responded } from '../../harness/repeats.ts'
import { kycBody, kycUser, signedFields, WEBHOOK_SECRET, type Person } from '../../harness/kyc.ts'
import { startKillableHost, type Kill, type KillableHost } from '../subscriptions/killable-host.ts'

interface Bench {
  readonly host: KillableHost
  readonly clock: ManualClock
  readonly one: Person
}
const JOBS = 'run jobs kyc.submit'

/** What is killed. Each gives what is done, also again after a death. */
const STEPS: Readonly<Record<string, (bench: Bench) => Promise<Act>>> = {
  'a submission that is decided at once':
    async ({ one }) =>
    () =>
      one.submit(kycBody('Approved')),
  'a submission that stays pending':
    async ({ one }) =>
    () =>
      one.submit(kycBody('Smith')),
  async 'a later round of the job'({ host, clock, one }) {
    await one.submit(kycBody('Smith'))
    return () => {
      clock.advance(700_000)
      return host.chore(JOBS)
    }
  },
  async 'an event of the provider'({ host, clock, one }) {
    const { id } = one.application(await one.submit(kycBody('Smith')))
    const links = { completionLink: null, externalVerificationLink: null }
    const data = { id, version: 1, status: 'approved', reason: null, ...links }
    const body = JSON.stringify({ type: 'kyc.report', data })
    const headers = signedFields(body, { now: clock.now() })
    return () => host.send('/providers/sandbox/events', { body, headers })
  },
}

t.setTimeout(1_800_000)
t.jobs = 2

for (const store of ['postgres', 'sqlite'] as const) {
  void t.test(
    `a killed host loses no application and submits it once, on ${store}`,
    { buffered: true },
    async t => {
      const place = await freshPlace(store)
      t.teardown(() => place.close())
      const clock = manualClock()
      const env = {
        PORT: '0',
        RATE_LIMITS: 'off',
        PROVIDER_WEBHOOK_SECRETS: `sandbox=${WEBHOOK_SECRET}`,
        ...place.env,
      }
      const host = await startKillableHost(env, clock)
      t.teardown(() => host.kill())
      let people = 0
      const { first, every, among } = killsBefore(store)
      for (const [name, step] of Object.entries(STEPS)) {
        let deaths = 0
        const kill = async (at: Kill): Promise<readonly string[] | undefined> => {
          const title = `${name}: killed ${at.moment} statement ${at.at}`
          const one = await kycUser(host, clock.now())
          people += 1
          const act = await step({ host, clock, one })
          const { died, statements } = await host.killing(at, act)
          if (died) {
            deaths += 1
            await host.restart()
          }
          const again = await responded(act)
          if (again) t.ok([200, 400].includes(again.status), `${title}: ${again.status}`)
          for (let round = 0; round < 3; round += 1) {
            clock.advance(700_000)
            await host.chore(JOBS)
          }
          t.equal(await one.status(), 'approved', title)
          return died ? undefined : statements
        }
        let lived: readonly string[] | undefined
        for (let at = first; !lived; at += every) lived = await kill({ moment: 'before', at })
        await kill({ moment: 'after', at: lived.length })
        for (const at of store === 'postgres' ? killsDuring(lived) : []) await kill({ moment: 'during', at })
        t.ok(lived.length >= 3 && deaths >= among(lived), lived.join('; '))
        t.comment(`measured ${store}, ${name}: ${deaths} kills over ${lived.length} statements`)
      }
      await host.kill()
      const db = place.open()
      const ids = (await rows(db, 'select id from gw_kyc_applications order by id')).map(row => row['id'])
      t.equal(ids.length, people, 'every person has an application')
      const submitted = await rows(db, 'select id from gw_sandbox_provider_calls order by id')
      t.same(
        submitted.map(row => row['id']),
        ids,
        'the provider has each application once, and no other',
      )
      const history = await rows(
        db,
        'select from_status, to_status, count(*) as n from gw_events group by 1, 2',
      )
      t.same(
        history
          .map(row => `${String(row['from_status'])} ${String(row['to_status'])} ${String(row['n'])}`)
          .toSorted(),
        [`not_submitted pending ${people}`, `pending approved ${people}`],
        'each was submitted once and decided once',
      )
      t.same(await rows(db, 'select * from gw_jobs'), [], 'no job is left')
    },
  )
}
