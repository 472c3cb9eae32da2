import { createIssuer, type KeyStorage, type IssuerOptions } from '@gatewright/session-issuer'
import t from 'tap'
import { newKey, setUp, USER } from '../fixtures.ts'

/** An issuer whose key storage takes a turn of the event loop for each call, and a count of its loads. */
function slowSetUp(changes: Partial<KeyStorage> = {}) {
  const set = setUp()
  const { keys } = set.options
  const seen = { loads: 0 }
  const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))
  const slow: KeyStorage = {
    ...keys,
    load: async accountId => {
      seen.loads++
      await turn()
      return keys.load(accountId)
    },
    commit: async (...args) => {
      await turn()
      return keys.commit(...args)
    },
    ...changes,
  }
  const options: IssuerOptions = { ...set.options, keys: slow }
  return { issuer: createIssuer(options), seen }
}

t.test('runs the changes of one account one after another, so that none is decided twice', async t => {
  const { issuer, seen } = slowSetUp()
  const make = () => newKey(issuer, [])
  const first = make()
  const others = [make(), make()]
  await first
  await Promise.all([...others, make()])
  t.equal(seen.loads, 4)
})

t.test('throws ERR_OVERLOADED after 50 decisions for which another host committed first', async t => {
  const { issuer, seen } = slowSetUp({ commit: async () => false })
  await t.rejects(issuer.createKey({ ...USER, scopes: [] }), { name: 'Fault', code: 'ERR_OVERLOADED' })
  t.equal(seen.loads, 50)
})
