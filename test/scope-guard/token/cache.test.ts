import { localKeys, type GuardOptions } from '@gatewright/scope-guard'
import t from 'tap'
import { bench, claims, session, sign, signingKey } from '../issuer.ts'

/** A guard that tells how often it had to verify, by how often it asked for the key. */
async function counting(options: Partial<GuardOptions>) {
  const key = await signingKey()
  const source = localKeys({ keys: [key.jwk] })
  let verified = 0
  const made = await bench({
    keys: async kid => {
      verified++
      return source(kid)
    },
    ...options,
  })
  const send = async (n: number, pad = ''): Promise<boolean> => {
    const payload = { ...claims(session(made.clock.now(), { sessionId: `s${n}` })), pad }
    return (
      await made.guard.check({ authorization: `Bearer ${await sign(key, payload)}` }, { operation: 'a.b' })
    ).ok
  }
  return { send, verified: () => verified }
}

t.test('verifies a token once while it is cached', async t => {
  const { send, verified } = await counting({})
  for (let n = 0; n < 5; n++) t.equal(await send(1), true)
  t.equal(verified(), 1)
})

t.test('keeps at most cacheEntries tokens, the least recently used goes first', async t => {
  const { send, verified } = await counting({ cacheEntries: 2 })
  await send(1)
  await send(2)
  await send(1)
  await send(3)
  t.equal(verified(), 3)
  await send(1)
  t.equal(verified(), 3)
  await send(2)
  t.equal(verified(), 4)
})

t.test('keeps at most cacheBytes of tokens', async t => {
  const { send, verified } = await counting({ cacheBytes: 65_536, maxTokenBytes: 16_384 })
  const pad = 'x'.repeat(8000)
  // Each weighs more than 11 KiB, so that 5 fit and 6 do not.
  for (let n = 0; n < 5; n++) await send(n, pad)
  for (let n = 0; n < 5; n++) await send(n, pad)
  t.equal(verified(), 5)
  await send(5, pad)
  await send(0, pad)
  t.equal(verified(), 7)
})
