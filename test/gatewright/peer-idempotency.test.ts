// Cases of idempotency as the draft of the IETF (draft-ietf-httpapi-idempotency-key-header-07, sections 2.6 and 2.7) and Stripe
// (docs.stripe.com/api/idempotent_requests) describe them, with the status that each gives and ours in every dialect. Rows that differ say why.
import { memoryStore } from 'gatewright/memory'
import t from 'tap'
import { BINDINGS, send, withOptions } from './refusals.ts'
import { createWorld } from './world.ts'

interface Case {
  /** Bodies that are sent under one key, one after the other; the last response is compared. */
  readonly bodies: readonly string[]
  readonly key: string | undefined
  readonly ietf: number
  readonly stripe: number
  readonly ours: { readonly gatewright: number; readonly ietf: number; readonly stripe: number }
  /** How often the processor is called. */
  readonly pays: number
  /** Why we differ from a peer, in the status or in how often the processor is called. */
  readonly why?: Partial<Record<'ietf' | 'stripe', string>>
}

const each = (status: number) => ({ gatewright: status, ietf: status, stripe: status })
const PAY = '{"amountCents":1}'
const CASES: Readonly<Record<string, Case>> = {
  'the first request': {
    bodies: [PAY],
    key: 'key-one-first',
    ietf: 201,
    stripe: 201,
    ours: each(201),
    pays: 1,
  },
  'a repeat after the first ended': {
    bodies: [PAY, PAY],
    key: 'key-two-repeat',
    ietf: 201,
    stripe: 201,
    ours: each(201),
    pays: 1,
  },
  'a repeat with another payload': {
    bodies: [PAY, '{"amountCents":2}'],
    key: 'key-three-reused',
    ietf: 422,
    stripe: 400,
    ours: { gatewright: 400, ietf: 422, stripe: 400 },
    pays: 1,
  },
  'a repeat with white space and another order': {
    bodies: ['{"amountCents":1,"note":"a"}', '{ "note": "a", "amountCents": 1 }'],
    key: 'key-four-canonical',
    ietf: 201,
    stripe: 201,
    ours: each(201),
    pays: 1,
  },
  'no key': {
    bodies: [PAY],
    key: undefined,
    ietf: 400,
    stripe: 201,
    ours: each(400),
    pays: 0,
    why: { stripe: 'Stripe runs a write without a key, which a retry then pays twice' },
  },
  'a key as a structured field': {
    bodies: [PAY, PAY],
    key: '"8e03978e-40d5-43dd-bc93-6894a57f9324"',
    ietf: 201,
    stripe: 201,
    ours: each(201),
    pays: 1,
  },
  'a key of 256 characters': {
    bodies: [PAY],
    key: 'k'.repeat(256),
    ietf: 400,
    stripe: 400,
    ours: each(400),
    pays: 0,
  },
  'a body that fails validation, then a valid one': {
    bodies: ['{"amountCents":"x"}', PAY],
    key: 'key-six-validation',
    ietf: 201,
    stripe: 201,
    ours: each(201),
    pays: 1,
  },
  'a repeat after a declined payment': {
    bodies: ['{"amountCents":5001}', '{"amountCents":5001}'],
    key: 'key-seven-declined',
    ietf: 402,
    stripe: 402,
    ours: each(402),
    pays: 2,
    why: {
      ietf: 'a 402 had no effect, so its key is free: the payer may add money and send the same request',
      stripe: 'the same; Stripe repeats the stored 402',
    },
  },
}

for (const dialect of ['gatewright', 'ietf', 'stripe'] as const)
  t.test(`dialect ${dialect}: the cases of the IETF's draft and of Stripe`, async t => {
    const world = withOptions(createWorld(memoryStore({ perProcess: true })), {
      gate: { idempotencyDialect: dialect, hint: false },
    })
    const server = await (BINDINGS['Express'] as NonNullable<(typeof BINDINGS)[string]>)(world)
    t.teardown(() => server.close())
    const authorization = `Bearer ${await world.token('payments.write')}`
    for (const [title, { bodies, key, ours, pays, why, ...peers }] of Object.entries(CASES)) {
      const before = world.processor.calls.length
      let status = 0
      for (const body of bodies)
        ({ status } = await send(server.url, {
          method: 'POST',
          path: '/payments',
          body,
          fields: [
            ['Authorization', authorization],
            ['Content-Type', 'application/json'],
            ...(key === undefined ? [] : ([['Idempotency-Key', key]] as const)),
          ],
        }))
      t.equal(status, ours[dialect], title)
      t.equal(world.processor.calls.length - before, pays, `${title}: paid`)
      if (dialect === 'gatewright') continue
      if (ours[dialect] !== peers[dialect]) t.type(why?.[dialect], 'string', `${title}: why`)
    }
  })
