import { localKeys } from '@gatewright/scope-guard'
import t from 'tap'
import { bench } from '../issuer.ts'
import { JWS_EXAMPLES } from './jws-examples.ts'

type Platform = typeof import('../../../packages/scope-guard/dist/platform/node/signature.js')

/** While the claims of RFC 7515 are valid. */
const NOW = 1_300_819_380_000 - 60_000

t.test(
  'every signature of the RFCs that a set of public keys can verify is valid on each platform',
  async t => {
    const signed = Object.entries(JWS_EXAMPLES).flatMap(([name, { token, key }]) =>
      key ? [{ name, token, key }] : [],
    )
    t.equal(signed.length, 7)
    for (const platform of ['node', 'web']) {
      const path = `${process.cwd()}/packages/scope-guard/dist/platform/${platform}/signature.js`
      const { importVerificationKey } = (await import(path)) as Platform
      for (const { name, token, key } of signed) {
        const { isSigned } = await importVerificationKey(key, key.alg)
        t.equal(await isSigned(token), true, `${name}, ${platform}`)
        const [header, payload, signature = ''] = token.split('.')
        const forged = [header, `A${payload?.slice(1)}`, signature].join('.')
        t.equal(await isSigned(forged), forged === token, `${name} with another payload, ${platform}`)
      }
    }
  },
)

t.test('each example of the RFCs has our verdict, and a reason where the RFC calls it valid', async t => {
  for (const [name, { token, key, valid, ours, why }] of Object.entries(JWS_EXAMPLES)) {
    const { guard, clock } = await bench({
      issuer: 'joe',
      keys: localKeys({ keys: key ? [key] : [] }),
      readSession: Object.assign(() => undefined, { types: [undefined, 'JWT'] }),
    })
    clock.advance(NOW - clock.now())
    const verdict = await guard.check(
      { authorization: `Bearer ${token}` },
      { operation: 'cards.list', allOf: ['cards.read'] },
    )
    t.equal(verdict.ok ? 'accepted' : (verdict.reason ?? verdict.code), ours, name)
    t.equal(why !== '', valid, `${name}: why`)
  }
})
