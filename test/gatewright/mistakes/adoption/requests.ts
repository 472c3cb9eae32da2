import { z } from 'zod'
import { localKeys } from '@gatewright/scope-guard'
import { sign, signingKey } from '../../../scope-guard/issuer.ts'
import { paid, usd, WRITE, type Mistake, type Sent, type Trial, firstRequest } from './trial.ts'

type Handler = Parameters<ReturnType<Trial['fetch']>['write']>[2]

/** A server with one write, and its first request. */
const server =
  (changes: object, write: object = {}, handler: unknown = paid, sent: Sent = {}) =>
  (trial: Trial): unknown => {
    const mounted = trial.fetch(changes).write('payments.create', { ...WRITE, ...write }, handler as Handler)
    return () => trial.send(mounted, sent)
  }

const amount = (mistake: string, spends: (body: Record<string, unknown>) => unknown, says: RegExp): Mistake =>
  firstRequest(mistake, says, server({}, { spends }))

const other = await signingKey('RS256', 'rotated')
const token =
  (claims: object, typ = 'JWT') =>
  async (trial: Trial): Promise<unknown> => {
    const { issuer, audience, clock } = trial.world.options
    const iat = Math.floor(clock.now() / 1000)
    const usual = {
      iss: issuer,
      aud: audience,
      sub: 'ann',
      azp: 'shop',
      scope: 'payments.write',
      iat,
      exp: iat + 900,
    }
    const bearer = await sign(other, { ...usual, ...claims }, { typ })
    const keys = localKeys({ keys: [other.jwk] })
    return server({ guard: { keys } }, {}, paid, { headers: { authorization: `Bearer ${bearer}` } })(trial)
  }

/** What clients send, and what their tokens say. */
export const CREDENTIALS: readonly Mistake[] = [
  firstRequest('an issuer without its last slash', /iss/, token({ iss: 'https://issuer.test/' })),
  firstRequest('another audience', /aud/, token({ aud: 'https://other.test' })),
  firstRequest(
    'an ID token in place of an access token',
    /nonce|ID token|azp|aud/,
    token({ aud: 'client-1', nonce: 'n' }),
  ),
  firstRequest('no provider for tokens of Auth0', /typ/, trial => server({ provider: undefined })(trial)),
  firstRequest('keys in the code, which the issuer has rotated', /unknown key \(kid/, async trial => {
    const { issuer, audience, clock } = trial.world.options
    const iat = Math.floor(clock.now() / 1000)
    const bearer = await sign(
      other,
      { iss: issuer, aud: audience, sub: 'ann', iat, exp: iat + 900 },
      { typ: 'JWT' },
    )
    return server({}, {}, paid, { headers: { authorization: `Bearer ${bearer}` } })(trial)
  }),
  firstRequest('a clock that is ten minutes late', /iat|nbf|future/, async trial => {
    const iat = Math.floor(trial.world.options.clock.now() / 1000) + 600
    return token({ iat, nbf: iat, exp: iat + 900 })(trial)
  }),
  firstRequest('a clock in seconds', /issued in the future|expires/, trial => {
    const { clock } = trial.world.options
    return server({ clock: { now: () => clock.now() / 1000 } })(trial)
  }),
  firstRequest(
    'an audience with a space',
    /wrong audience \(audience: expected/,
    server({ audience: 'https://api.test ' }),
  ),
  firstRequest('a token without Bearer', /A bearer session token is required|no credential/, async trial =>
    server({}, {}, paid, { headers: { authorization: await trial.world.token('payments.write') } })(trial),
  ),
  firstRequest(
    'no Idempotency-Key',
    /400 .*idempotency-key/i,
    server({}, {}, paid, { headers: { 'idempotency-key': undefined } }),
  ),
  firstRequest(
    'an Idempotency-Key that is too short',
    /400 .*idempotency-key/i,
    server({}, {}, paid, { headers: { 'idempotency-key': '1' } }),
  ),
  firstRequest('one Idempotency-Key for all payments', /400 .*key/i, trial => {
    const handler = trial.fetch().write('payments.create', WRITE, paid)
    return async () => {
      await trial.send(handler)
      return trial.send(handler, { body: '{"amountCents":200}' })
    }
  }),
  firstRequest(
    'a form in place of JSON',
    /415 .*application\/json/,
    server({}, {}, paid, {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'amountCents=1',
    }),
  ),
  firstRequest(
    'HTTPS required behind a proxy that is not trusted',
    /requests come with x-forwarded-for from 127\.0\.0\.1, .*write trustProxy/,
    trial =>
      trial
        .express((app, gw) => app.post('/payments', gw.write('payments.create', WRITE, paid)), {
          gate: { requireHttps: true },
        })
        .then(
          send => () => send({ headers: { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.5' } }),
        ),
  ),
  firstRequest(
    'limits per address behind a proxy that is not trusted',
    /requests come with x-forwarded-for from 127\.0\.0\.1, .*write trustProxy/,
    trial =>
      trial
        .express((app, gw) => app.post('/payments', gw.write('payments.create', WRITE, paid)))
        .then(send => () => send({ headers: { 'x-forwarded-for': '203.0.113.5' } })),
  ),
]

const gave = (what: string): RegExp => new RegExp(`spends|the function that returns the amount.*${what}`)
/** Amounts. */
export const AMOUNTS: readonly Mistake[] = [
  amount('an amount that is a text', body => usd(String(body['amountCents'])), /gave \{ amountCents: string/),
  amount('an amount that is a fraction', () => usd(10.5), /gave \{ amountCents: 10\.5/),
  amount('a fraction by the arithmetic of floats', () => usd(1.1 * 100), /gave \{ amountCents: 110\.0/),
  amount('a negative amount', () => usd(-100), /gave \{ amountCents: -100/),
  amount('an amount that is a BigInt', () => usd(100n), /gave \{ amountCents: bigint/),
  amount(
    'an amount that the body does not have',
    body => usd(body['cents']),
    /gave \{ amountCents: undefined/,
  ),
  amount('an amount that is not a number', body => usd(Number(body['amount'])), /gave \{ amountCents: NaN/),
  amount('no currency', () => ({ amountCents: 1 }), /currency: undefined/),
  amount('a currency in small letters', () => ({ amountCents: 1, currency: 'usd' }), /currency: "?usd/),
  amount(
    'a currency that the caps do not count',
    () => ({ amountCents: 1, currency: 'EUR' }),
    /403 .*in US dollars, and there is no rate for this currency/,
  ),
  amount(
    'a number in place of the amount',
    () => 100,
    /spends.* must return \{ amountCents, currency \}, got 100/,
  ),
  amount('no return', () => undefined, /must return \{ amountCents, currency \}, got undefined/),
  amount('a promise of the amount', () => Promise.resolve(usd(1)), /got a promise/),
  amount(
    'a function of the amount that throws',
    body => usd((body['payment'] as { cents: number }).cents),
    gave('threw TypeError'),
  ),
  firstRequest(
    'a schema that removes the amount',
    /gave \{ amountCents: undefined/,
    server(
      {},
      {
        body: z.object({ note: z.string().optional() }),
        spends: (body: { amountCents?: number }) => usd(body.amountCents),
      },
    ),
  ),
  firstRequest('a handler that reserves nothing', /reserve/, server({}, { spends: 'spend' })),
  firstRequest(
    'reserve without spends',
    /reserve needs spends/,
    server({}, {}, async ({ reserve }: { reserve(amount: object): Promise<unknown> }) => {
      await reserve(usd(1))
      return paid()
    }),
  ),
  firstRequest(
    'a reservation that nothing ends',
    /settle|release|keep/,
    server({}, { spends: 'spend' }, async ({ reserve }: { reserve(amount: object): Promise<unknown> }) => {
      await reserve(usd(1))
      return paid()
    }),
  ),
  firstRequest(
    'more settled than was held',
    /settle takes an integer from 0 to 1, the reserved amount, got 100/,
    server({}, { spends: () => usd(1) }, ({ hold }: { hold: { settle(cents: number): void } }) => {
      hold.settle(100)
      return paid()
    }),
  ),
]
