import { manualClock } from '@gatewright/kernel/testing'
import { sessionReader } from '@gatewright/scope-guard'
import t from 'tap'
import { bench, claims, session, sign } from '../issuer.ts'

const rule = { operation: 'cards.list', allOf: [] }
const denied = { ok: false, code: 'unauthorized', status: 401 }
/** Ids that would be one id, or none, in some store. */
const BAD = ['acc\ud83d', 'acc\ude00\ud83d', 'acc\0', '\0']

t.test(
  'denies a token whose account, session or key id cannot be stored unchanged in every store',
  async t => {
    const { guard, key, clock } = await bench()
    const check = async (changes: object): Promise<unknown> => {
      const token = await sign(key, claims(session(clock.now(), changes)))
      return guard.check({ authorization: `Bearer ${token}` }, rule)
    }
    t.match(await check({ accountId: 'acc\ufffd' }), { ok: true })
    for (const id of BAD) {
      for (const name of ['accountId', 'sessionId', 'keyId']) {
        t.match(await check({ [name]: id }), denied, `${name} ${JSON.stringify(id)}`)
      }
    }
  },
)

t.test('denies such a token of another issuer with any session reader', async t => {
  const now = manualClock().now()
  for (const readSession of [sessionReader(), () => session(now, { accountId: 'acc\ud83d' })]) {
    const { guard, key } = await bench({ readSession })
    const token = await sign(key, { ...claims(session(now)), sub: 'acc\ud83d' })
    t.match(await guard.check({ authorization: `Bearer ${token}` }, rule), denied)
  }
})
