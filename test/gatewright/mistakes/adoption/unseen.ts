import { testProcessor } from 'gatewright/testing'
import express from 'express'
import { paid, usd, WRITE, type Mistake, type Sent, type Trial } from './trial.ts'

type Handler = Parameters<ReturnType<Trial['fetch']>['write']>[2]
const never = (mistake: string, make: Mistake['make'] = () => undefined): Mistake => ({
  mistake,
  shows: 'never',
  says: new RegExp(`^\\| ${mistake.replace(/[()]/g, '\\$&')} \\|`, 'm'),
  make,
})
const spends = ({ amountCents }: { amountCents: number }) => usd(amountCents)

/** Sends one payment twice, as a client that mistakes keys does. */
const sentTwice =
  (first: Sent, second: Sent, handler: Handler = paid) =>
  (trial: Trial): unknown => {
    const mounted = trial.fetch().write('payments.create', { ...WRITE, spends: spends as never }, handler)
    return async () => {
      await trial.send(mounted, first)
      return trial.send(mounted, second)
    }
  }

/** What is right for the code, and wrong for the team. Each is a row of docs/mistakes.md, with its check. */
export const UNSEEN: readonly Mistake[] = [
  never(
    'An amount in dollars where cents are meant',
    sentTwice({}, {}, () => ({ status: 201, body: { charged: '100.00' } })),
  ),
  never(
    'A new key for each repeat',
    sentTwice(
      { headers: { 'idempotency-key': 'attempt-1' } },
      { headers: { 'idempotency-key': 'attempt-2' } },
    ),
  ),
  never('The same key for two equal payments', sentTwice({}, {})),
  never('A 4xx after the effect', trial => {
    const { pay } = testProcessor()
    const mounted = trial
      .fetch()
      .write(
        'payments.create',
        { ...WRITE, spends: spends as never },
        async ({ effectId }: { effectId: string }) => {
          await pay({}, { idempotencyKey: effectId })
          return { status: 422, body: {} }
        },
      )
    return () => trial.send(mounted)
  }),
  never(
    'An error that the handler catches after the effect',
    sentTwice({}, {}, async () => {
      await Promise.reject(new Error('lost')).catch(() => undefined)
      return paid()
    }),
  ),
  never(
    'An effect without effectId',
    sentTwice({}, {}, () => ({ status: 201, body: { key: crypto.randomUUID() } })),
  ),
  never('The guard after the handler', trial =>
    trial.express((app, gw) => {
      const protect = gw.protectWrite('payments.create', { ...WRITE, spends: spends as never })
      app.post('/payments', express.json(), (_request, response) => void response.json({}), protect)
    }),
  ),
  never('A route without a guard', trial =>
    trial.express((app, gw) => {
      gw.write('payments.create', { ...WRITE, spends: spends as never }, paid)
      app.post('/payments', (_request, response) => void response.json({}))
    }),
  ),
  never(
    'The account of the path or the body',
    sentTwice({}, {}, (({ body }: { body: { accountId?: string } }) => ({
      status: 201,
      body: { from: body.accountId ?? 'any' },
    })) as never),
  ),
  never('Another connection than the transaction'),
  never('Stores of two servers that differ'),
  never('cors() after the gate'),
  never('A queue of commands in the Redis client'),
]
