import { createVerifier } from '@gatewright/signature-verifier'
import { memoryNonces } from '@gatewright/signature-verifier/memory'
import t from 'tap'
import { fieldsFor, newWallet, openVerifier, signed } from './wallets.ts'

/** A verifier whose recoveries end only when the test lets them. */
function heldVerifier(recoveries: { waiting: number; waitingPerClass: number }) {
  const ends: (() => void)[] = []
  const recover = (): Promise<undefined> => new Promise(resolve => ends.push(() => resolve(undefined)))
  const opened = openVerifier({ recover, recoveries })
  const release = async (): Promise<void> => {
    while (ends.length > 0) {
      ends.shift()?.()
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  return { ...opened, release }
}

t.test('returns 429 with Retry-After to the address bucket that floods, and to no other', async t => {
  const { verify, clock, release } = heldVerifier({ waiting: 8, waitingPerClass: 4 })
  const wallet = newWallet()
  const proof = await signed(wallet, fieldsFor(wallet, clock, { template: 'A' }))
  const flood = Array.from({ length: 10 }, () => verify(proof, { addressBucket: '192.0.2.1' }))
  const bystander = verify(proof, { addressBucket: '2001:db8::/64' })
  await release()
  const codes = (await Promise.all(flood)).map(verdict => (verdict.ok ? 'ok' : verdict.code))
  t.same(codes, [...Array(5).fill('invalid_signature'), ...Array(5).fill('rate_limited')])
  const last = await flood[9]
  t.match(last, { ok: false, status: 429, retryAfterSeconds: 1 })
  t.match(await bystander, { code: 'invalid_signature' })
})

t.test(
  'drops a check of the largest bucket when full, and throws ERR_OVERLOADED only when all are equal',
  async t => {
    const { verify, clock, release } = heldVerifier({ waiting: 4, waitingPerClass: 4 })
    const wallet = newWallet()
    const proof = await signed(wallet, fieldsFor(wallet, clock, { template: 'A' }))
    const from = (addressBucket: string) => verify(proof, { addressBucket })
    const running = from('running')
    const many = [from('many'), from('many'), from('many'), from('many')]
    const few = [from('b'), from('c'), from('d')]
    t.match(await many[3], { code: 'rate_limited' }, 'its newest job goes first')
    t.match(await many[1], { code: 'rate_limited' })
    await t.rejects(from('e'), { name: 'Fault', code: 'ERR_OVERLOADED' })
    t.match(await from('many'), { code: 'rate_limited' })
    await release()
    const rest = await Promise.all([running, many[0], ...few])
    t.ok(rest.every(verdict => !verdict?.ok && verdict?.code === 'invalid_signature'))
  },
)

t.test('serves buckets in turn, so that one proof does not wait behind a flood', async t => {
  const { verify, clock, release } = heldVerifier({ waiting: 16, waitingPerClass: 8 })
  const wallet = newWallet()
  const proof = await signed(wallet, fieldsFor(wallet, clock, { template: 'A' }))
  const order: string[] = []
  const from = async (addressBucket: string): Promise<void> => {
    await verify(proof, { addressBucket })
    order.push(addressBucket)
  }
  const all = [...Array.from({ length: 8 }, () => from('flood')), from('one')]
  await release()
  await Promise.all(all)
  t.same(order.slice(0, 3), ['flood', 'flood', 'one'])
})

t.test('counts clients without a bucket as one, bounded by the whole queue', async t => {
  const { verify, clock, release } = heldVerifier({ waiting: 6, waitingPerClass: 2 })
  const wallet = newWallet()
  const proof = await signed(wallet, fieldsFor(wallet, clock, { template: 'A' }))
  const all = Array.from({ length: 9 }, () => verify(proof))
  await release()
  const codes = (await Promise.all(all)).map(verdict => (verdict.ok ? 'ok' : verdict.code))
  t.equal(codes.filter(code => code === 'rate_limited').length, 2)
})

t.test('gives the event loop a turn between recoveries', async t => {
  const { verify, clock } = openVerifier({ recoveries: { waiting: 64 } })
  const wallet = newWallet()
  const proof = await signed(wallet, fieldsFor(wallet, clock))
  const bad = { ...proof, nonce: 'another-nonce' }
  let turns = 0
  let done = false
  const count = (): void => {
    turns++
    if (!done) setImmediate(count)
  }
  setImmediate(count)
  await Promise.all(Array.from({ length: 20 }, () => verify(bad)))
  done = true
  t.ok(turns >= 19, `${turns} turns for 20 proofs`)
})

t.test('continues after a recovery that failed', async t => {
  let calls = 0
  const { verify, clock } = openVerifier({
    recover: () => {
      if (calls++ === 0) throw new Error('worker lost')
      return undefined
    },
  })
  const wallet = newWallet()
  const proof = await signed(wallet, fieldsFor(wallet, clock))
  await t.rejects(verify(proof), /worker lost/)
  t.match(await verify(proof), { code: 'invalid_signature' })
})

t.test('rejects limits out of bounds', async t => {
  const wrong = [{ atOnce: 0 }, { waiting: 0 }, { waiting: 65_537 }, { waitingPerClass: 9, waiting: 8 }]
  for (const recoveries of wrong) {
    const options = { service: 'Gatewright', nonces: memoryNonces(), recoveries }
    t.throws(() => createVerifier(options), { name: 'TypeError', message: /^createVerifier recoveries: / })
  }
})
