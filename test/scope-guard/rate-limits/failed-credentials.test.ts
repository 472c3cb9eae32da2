import { localKeys, type KeySource, type LimiterStore, type GuardOptions } from '@gatewright/scope-guard'
import fc from 'fast-check'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import t from 'tap'
import { randomCases } from '../../harness/random-cases.ts'
import { bench, claims, field, session, sign, signingKey, type Bench } from '../issuer.ts'
import { isWebPlatform, signatureChecks } from '../verifications.ts'

const rule = { operation: 'cards.list', allOf: [] }
const address = '192.0.2.1'

/** Good tokens, forged ones, and a way to send them. */
interface Client extends Bench {
  /** A token of a session of its own. */
  good(n: number): Promise<string>
  /** The same with a signature by another key: only a signature check distinguishes it from a good one. */
  forged(n: number): Promise<string>
  /** The code of the denial, or `ok`. */
  send(authorization: string, from?: string): Promise<string>
}

async function client(options: Partial<GuardOptions> = {}): Promise<Client> {
  const made = await bench(options)
  const attacker = await signingKey('EdDSA', made.key.jwk.kid)
  const claimsOf = (n: number) => claims(session(made.clock.now(), { sessionId: `ses_${n}` }))
  return {
    ...made,
    good: async n => `Bearer ${await sign(made.key, claimsOf(n))}`,
    forged: async n => `Bearer ${await sign(attacker, claimsOf(n))}`,
    async send(authorization, from = address) {
      const verdict = await made.guard.check({ authorization, address: from }, rule)
      return verdict.ok ? 'ok' : verdict.code
    },
  }
}

const times = async <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)))

const tally = (codes: readonly string[]): Record<string, number> =>
  Object.fromEntries([...new Set(codes)].sort().map(code => [code, codes.filter(one => one === code).length]))

/** Makes each check of a signature take so long that few begin in a turn of the event loop, however fast the machine is. */
function halfMillisecond(): void {
  const until = performance.now() + 0.5
  while (performance.now() < until);
}

t.test('accepts 100 valid tokens that arrive simultaneously from one address at a new process', async t => {
  const { good, send } = await client()
  const tokens = await times(100, good)
  t.same(tally(await Promise.all(tokens.map(async token => send(token)))), { ok: 100 })
})

t.test('accepts one valid token 100 times simultaneously in a new process', async t => {
  const { good, send } = await client()
  const token = await good(1)
  t.same(tally(await times(100, () => send(token))), { ok: 100 })
})

t.test(
  'accepts cached and new valid tokens during a burst of forged tokens from the same address',
  async t => {
    const { good, forged, send } = await client()
    const known = await good(0)
    t.equal(await send(known), 'ok')
    const junk = await times(200, forged)
    const fresh = await times(40, n => good(n + 1))
    const responses = [...junk, ...fresh, ...Array<string>(40).fill(known)].map(async token => send(token))
    const codes = await Promise.all(responses)
    t.same(tally(codes.slice(0, 200)), { unauthorized: 200 }, 'the denial of a forged token names the reason')
    t.same(tally(codes.slice(200)), { ok: 80 })
  },
)

t.test('denies tokens with a wrong header or wrong claims without checking the signature', async t => {
  const { key, clock, good, send } = await client()
  const { all: checks } = signatureChecks(t)
  const now = clock.now() / 1000
  const fine = claims(session(clock.now()))
  const asked: string[] = []
  const keys: KeySource = kid => {
    asked.push(kid)
    return localKeys({ keys: [key.jwk] })(kid)
  }
  const counted = await client({ keys, clock })
  const junk = [
    ...[{ kid: 'other' }, { alg: 'ES256' }, { alg: 'none' }, { typ: 'JWT' }, { crit: ['exp'] }].map(header =>
      withHeader(fine, { kid: 'kid-EdDSA', typ: 'at+jwt', alg: 'EdDSA', ...header }),
    ),
    ...(await Promise.all(
      [{ iss: 'x' }, { aud: 'x' }, { exp: now }, { exp: 'x' }, { nbf: now + 6 }, { iat: now + 6 }].map(
        wrong => sign(key, { ...fine, ...wrong } as never),
      ),
    )),
    'x',
    'a.b',
    'a.b.c',
    'x'.repeat(5000),
  ]
  for (const token of junk) {
    t.match(await counted.send(`Bearer ${token}`), /^(unauthorized|session_expired)$/, token.slice(0, 20))
  }
  t.equal(checks(), 0)
  t.same([...new Set(asked)].sort(), ['kid-EdDSA', 'other'], 'the key is looked up last')
  t.equal(asked.length, 3)
  t.equal(await send(await good(1)), 'ok')
  t.equal(checks(), 1)
})

t.test(
  'checks a few ms of signatures per turn of the event loop, whoever sends how many',
  { skip: isWebPlatform && 'Web Crypto checks signatures on threads' },
  async t => {
    const { forged, good, guard } = await client()
    const known = await good(0)
    const check = async (authorization: string, address?: string): Promise<boolean> =>
      (await guard.check({ authorization, ...(address === undefined ? {} : { address }) }, rule)).ok
    t.ok(await check(known))
    const junk = await times(600, forged)
    const { node: checks } = signatureChecks(t, halfMillisecond)
    for (const [sender, addressOf] of [
      ['one address', () => address],
      ['many addresses', (n: number) => `192.0.2.${n % 200}`],
      ['no address', () => undefined],
    ] as const) {
      let [most, before, turns] = [0, checks(), 0]
      const watch = setInterval(() => {}, 1)
      const count = (): void => {
        turns++
        most = Math.max(most, checks() - before)
        before = checks()
        turn = setImmediate(count)
      }
      let turn = setImmediate(count)
      const started = checks()
      const all = junk.map(async (token, n) => check(token, addressOf(n)))
      const responses = Promise.all(all)
      // A cached token gets its verdict in the turn in which it arrives.
      const atTurn = turns
      t.ok(await check(known, address))
      t.ok(turns - atTurn <= 1, sender)
      t.notOk((await responses).includes(true))
      clearImmediate(turn)
      clearInterval(watch)
      // 2 ms of checks of 0.5 ms each and 1 ms of low priority, each with one that begins in the last moment.
      t.ok(most <= 8, `${sender}: ${most} checks in a turn`)
      t.ok(checks() - started >= 20, `${sender}: ${checks() - started} checks`)
    }
  },
)

/** A token with a right shape and no signature worth the name. */
function withHeader(payload: object, header: object): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${encode(header)}.${encode(payload)}.AAAA`
}

t.test(
  'charges malformed tokens that need no signature check, and denies any number of them with 401',
  async t => {
    const { forged, good, send } = await client({ failedCredentials: { points: 3 } })
    t.same(tally(await times(1000, () => send('Bearer junk'))), { unauthorized: 1000 })
    t.equal(await send(await forged(1)), 'unauthorized')
    t.equal(await send(await good(1)), 'ok')
  },
)

t.test('verifies a token again after cacheSeconds without waiting and without a charge', async t => {
  const { forged, good, send, clock } = await client({ cacheSeconds: 10 })
  const known = await good(0)
  t.equal(await send(known), 'ok')
  for (let n = 0; n < 70; n++) await send('Bearer junk')
  clock.advance(10_000)
  const codes = [...(await times(400, forged)), known].map(async token => send(token))
  let responded = 0
  for (const code of codes) void code.then(() => responded++)
  t.equal(await codes.at(-1), 'ok')
  t.ok(responded < 200, `verdict before ${400 - responded} forged ones`)
  await Promise.all(codes)
})

t.test('denies only tokens that do not fit in the queue of an address with a used-up budget', async t => {
  signatureChecks(t, halfMillisecond)
  const { guard, forged, good, send } = await client()
  for (let n = 0; n < 60; n++) t.equal(await send('Bearer junk'), 'unauthorized')
  const tokens = await times(300, forged)
  const all = tokens.map(async authorization => guard.check({ authorization, address }, rule))
  const elsewhere = send(await good(1), '192.0.2.2')
  const verdicts = await Promise.all(all)
  const denied = verdicts.filter(verdict => !verdict.ok && verdict.code === 'rate_limited')
  // 256 wait while up to 8 are verified: fewer where the first of them took this turn's time.
  t.ok(denied.length >= 300 - 264 && denied.length < 300 - 256, `${denied.length} denied`)
  for (const verdict of denied) {
    t.match(verdict, { status: 429, retryAfterSeconds: 1, details: { limit: 'failedCredentialsPerAddress' } })
    t.equal(verdict.ok || field(verdict.headers, 'Retry-After'), '1')
  }
  t.equal(await elsewhere, 'ok')
  t.equal(await send(await good(2)), 'ok', 'the lane accepts checks again')
})

/** Stores that are down, or that know of more failures than this process. */
function store(take: (points: number) => Promise<RateLimiterRes>) {
  const calls: string[] = []
  const make: LimiterStore = settings => {
    const limiter = new RateLimiterMemory(settings)
    limiter.consume = async key => {
      calls.push(String(key))
      return take(settings.points)
    }
    return limiter
  }
  return { make, calls }
}

/** Sends forged tokens at once and counts those that the lane denies: none while the budget has failures left. */
async function countDenied(count: number, { forged, send }: Client): Promise<number> {
  const tokens = await times(count, forged)
  const codes = await Promise.all(tokens.map(async token => send(token)))
  return codes.filter(code => code === 'rate_limited').length
}
const narrow = { waiting: 1, waitingPerAddress: 1 }

t.test(
  'counts in this process while the store of the budget is down, and denies no request because of it',
  async t => {
    signatureChecks(t, halfMillisecond)
    const { make, calls } = store(() => Promise.reject(new Error('down')))
    const made = await client({ failedCredentials: { points: 3, store: make, ...narrow } })
    for (let n = 0; n < 9; n++) t.equal(await made.send('Bearer junk'), 'unauthorized')
    t.equal(calls.length, 3, 'a budget that is used up costs the store nothing')
    t.equal(await made.send(await made.good(1)), 'ok')
    t.ok((await countDenied(20, made)) >= 20 - 9)
  },
)

t.test('reads from the store that other processes used up the budget', async t => {
  signatureChecks(t, halfMillisecond)
  const used = (points: number) => new RateLimiterRes(0, 5000, points + 7, false)
  const { make } = store(points => Promise.reject(used(points)))
  const made = await client({ failedCredentials: { points: 60, store: make, ...narrow } })
  t.equal(await countDenied(20, made), 0)
  t.ok((await countDenied(20, made)) >= 20 - 9)
  made.clock.advance(5000)
  t.equal(await countDenied(20, made), 0, 'until the window of the store ends')
})

t.test('resets the budget of an address when the window ends, and after the clock jumps', async t => {
  signatureChecks(t, halfMillisecond)
  const made = await client({ failedCredentials: { points: 2, windowSeconds: 30, ...narrow } })
  const useUp = async (): Promise<void> => {
    for (let n = 0; n < 2; n++) await made.send('Bearer junk')
    t.ok((await countDenied(20, made)) >= 20 - 9)
  }
  await useUp()
  made.clock.advance(30_000)
  t.equal(await made.send(await made.good(1)), 'ok')
  await useUp()
  made.clock.advance(-3_600_000)
  t.equal(await made.send('Bearer junk'), 'unauthorized')
  t.equal(await countDenied(1, made), 0)
})

t.test(
  'under any sequence of arrivals denies no cached token, and no other token while the low-priority queue is not full',
  async t => {
    const { good, forged, guard, clock } = await client({
      failedCredentials: { points: 3, waiting: 16, waitingPerAddress: 8 },
    })
    let serial = 0
    const kinds = fc.constantFrom('good', 'known', 'forged', 'junk')
    const one = fc.record({ kind: kinds, host: fc.constantFrom('192.0.2.1', '192.0.2.2') })
    const known = await good(serial++)
    await guard.check({ authorization: known }, rule)
    const burst = fc.record({
      arrivals: fc.array(one, { maxLength: 40 }),
      afterMs: fc.constantFrom(0, 1, 1000),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(burst, { maxLength: 4 }), async bursts => {
        for (const { arrivals, afterMs } of bursts) {
          const tokens = await Promise.all(
            arrivals.map(async ({ kind }) => {
              if (kind === 'good') return good(serial++)
              return kind === 'forged' ? forged(serial++) : kind === 'known' ? known : 'Bearer junk'
            }),
          )
          const asked = arrivals.map(async ({ host }, index) =>
            guard.check({ authorization: tokens[index], address: host }, rule),
          )
          const codes = (await Promise.all(asked)).map(verdict => (verdict.ok ? 'ok' : verdict.code))
          for (const [index, { kind, host }] of arrivals.entries()) {
            const code = codes[index]
            const unknown = arrivals.filter(
              other => other.host === host && (other.kind === 'good' || other.kind === 'forged'),
            )
            // 8 under way and 8 waiting, of which the other address may have taken its share.
            const mayOverflow = unknown.length > 8
            const wanted = kind === 'good' || kind === 'known' ? 'ok' : 'unauthorized'
            if (code === wanted) continue
            if (code !== 'rate_limited' || kind === 'known' || kind === 'junk' || !mayOverflow) return false
          }
          clock.advance(afterMs)
        }
        return true
      }),
      { numRuns: randomCases(60) },
    )
    t.match(await guard.check({ authorization: known, address }, rule), { ok: true })
  },
)

t.test('rejects bounds of the low-priority queue that are out of range', async t => {
  for (const wrong of [
    { waiting: 0 },
    { waiting: 65_537 },
    { waitingPerAddress: 0 },
    { waiting: 4, waitingPerAddress: 5 },
  ]) {
    await t.rejects(client({ failedCredentials: wrong }), {
      name: 'TypeError',
      message: /failedCredentials: waiting/,
    })
  }
  await t.rejects(client({ failedCredentials: { points: 0 } }), { name: 'TypeError', message: /points/ })
})
