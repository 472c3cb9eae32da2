import { gatewright, type FetchOptions } from 'gatewright/fetch'
import { gatewright as onNext } from 'gatewright/next'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { createWorld, type World } from '../world.ts'

const usd = (amountCents: number): { amountCents: number; currency: string } => ({
  amountCents,
  currency: 'USD',
})
const paid = (): { status: number; body: object } => ({ status: 201, body: {} })
const write = { scope: 'payments.write' } as const

/** Options with what a mistake changes, and the lines for the operator. */
function mistaken(changes: object = {}): { world: World; options: FetchOptions; lines: string[] } {
  const world = createWorld()
  const lines: string[] = []
  const { policy: _, ...rest } = world.options
  const gate = {
    hint: (line: string) => void lines.push(line),
    report: ({ error }: { error: unknown }) => void lines.push(String(error)),
  }
  return { world, options: { ...rest, peer: 'none', gate, ...changes }, lines }
}

async function send(
  handler: (request: Request, env: unknown) => Promise<Response>,
  world: World,
  { method = 'POST', body = {}, key = 'the-same-key' }: { method?: string; body?: object; key?: string } = {},
): Promise<number> {
  const authorization = `Bearer ${await world.token('payments.read payments.write')}`
  const headers = { authorization, 'content-type': 'application/json', 'idempotency-key': key }
  const request = new Request('https://api.example/payments', {
    method,
    headers,
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
  })
  return (await handler(request, undefined)).status
}

/** Runs the timer that waits for the declarations of a server. */
async function afterStart(t: Test, make: () => void): Promise<void> {
  const timers: (() => void)[] = []
  const intercepted = t.intercept(globalThis, 'setTimeout', {
    value: (run: () => void, ms: number) => {
      t.equal(ms, 10_000)
      timers.push(run)
      return { unref() {} }
    },
  })
  make()
  intercepted.restore()
  for (const run of timers) run()
}

t.test('a write spends, and nothing can cap it', async t => {
  const cases: readonly [string, object, number][] = [
    ['no policy', {}, 1],
    ["policy: 'none'", { policy: 'none' }, 0],
    ['policy', { policy: { dailySpendCapCents: 1 } }, 0],
    ['policies', { policies: () => [] }, 0],
    ['policies that tokens name', { provider: undefined, guard: { policies: async () => [] } }, 0],
  ]
  for (const [name, changes, count] of cases) {
    const { options, lines } = mistaken(changes)
    const gw = gatewright(options)
    gw.write('payments.create', { ...write, spends: () => usd(1) }, paid)
    gw.write('payments.other', { ...write, spends: 'spend' }, paid)
    t.equal(lines.length, count, name)
    if (count > 0)
      t.match(
        lines[0],
        /payments\.create spends, and there is no policy, so nothing is capped: .* or say policy: 'none'/,
      )
  }
})

t.test('a server whose options are wrong compares nothing later', async t => {
  const { options } = mistaken({ policy: { dailySpendCapCents: 1 }, clock: Date.now })
  await afterStart(t, () => void t.throws(() => gatewright(options), /clock must be an object/))
})

t.test('a policy for operations that the server does not have', async t => {
  const limits = (operations: readonly string[]) => ({ limits: [{ operations, window: 'day', maxCount: 1 }] })
  const cases: readonly [object, RegExp][] = [
    [
      { denyOperations: ['note.create'] },
      /a policy names note\.create, and no operation of this server has that id/,
    ],
    [{ allowOperations: ['notes.create', 'note.*'] }, /a policy names note\.\*/],
    [limits(['notes.delete', 'notes.*']), /a policy names notes\.delete, .*declared are notes\.create/],
  ]
  for (const [policy, line] of cases) {
    const { options, lines } = mistaken({ policy })
    await afterStart(t, () => void gatewright(options).write('notes.create', write, paid))
    t.match(lines, [line])
    t.equal(lines.length, 1)
  }
})

t.test('a rate limit of a class that no operation has', async t => {
  const limit = { name: 'writes', points: 1, windowSeconds: 60, per: 'key', classes: ['writes'] }
  for (const [given, lines] of [
    [{}, [/a rate limit is for the class writes, and no operation has it, so it limits nothing/]],
    [{ limit: 'writes' }, []],
  ] as const) {
    const made = mistaken({ policy: 'none', limits: [limit] })
    await afterStart(
      t,
      () => void gatewright(made.options).write('notes.create', { ...write, ...given }, paid),
    )
    t.match(made.lines, lines)
    t.equal(made.lines.length, lines.length)
  }
})

t.test("policy: 'none' caps nothing", async t => {
  const { world, options, lines } = mistaken({ policy: 'none' })
  const handler = gatewright(options).write('payments.create', { ...write, spends: () => usd(1e9) }, paid)
  t.equal(await send(handler, world), 201)
  t.same(lines, [])
})

t.test('a rule of the gate that spends is noted as a write is', async t => {
  const { options, lines } = mistaken()
  const { gate } = gatewright(options)
  gate.idempotent({ operation: 'payments.create', allOf: [], spends: 'spend' })
  t.match(lines, [/payments\.create spends, and there is no policy/])
})

const CAPS: readonly [object, RegExp][] = [
  [
    { dailySpendCapCents: 100 },
    /the policy has dailySpendCapCents, and no write spends, so it limits nothing/,
  ],
  [{ maxAuthAmountCents: 100 }, /has maxAuthAmountCents, and no write spends/],
  [
    { limits: [{ operations: ['notes.create'], window: 'day', maxCents: 1 }] },
    /has limits\[\]\.maxCents, and no write spends/,
  ],
  [{ dailyWithdrawalCapCents: 100 }, /has dailyWithdrawalCapCents, and no write withdraws/],
  [{ payees: ['account:a'] }, /has payees, and no write spends, .*\(\{ amountCents, currency, payee \}\)/],
  [{ denyPayees: ['account:a'] }, /has denyPayees, and no write spends/],
]

t.test('a policy caps money or names payees, and no operation spends: 10 s after the start', async t => {
  for (const [policy, line] of CAPS) {
    const { options, lines } = mistaken({ policy })
    await afterStart(t, () => void gatewright(options).write('notes.create', write, paid))
    t.match(lines, [line])
  }
})

t.test(
  'a policy caps money or names payees, and no operation spends: when a session is first checked',
  async t => {
    for (const [policy, line] of CAPS)
      for (const changes of [{ policy }, { policies: () => [policy] }, { policies: async () => [policy] }]) {
        const { world, options, lines } = mistaken(changes)
        const handler = gatewright(options).write('notes.create', write, paid)
        for (const key of ['the-first-key', 'the-second-key']) await send(handler, world, { key })
        t.match(lines, [line])
        t.equal(lines.length, 1, 'once')
      }
  },
)

t.test('says nothing of caps that an operation reaches, or that count no money', async t => {
  const cases: readonly [object, object][] = [
    [{ dailySpendCapCents: 100 }, { spends: () => usd(1) }],
    [{ dailySpendCapCents: 100 }, { withdraws: () => usd(1) }],
    [{ dailyWithdrawalCapCents: 100 }, { withdraws: () => usd(1) }],
    [{ dailyWithdrawalCapCents: 100 }, { spends: 'withdrawal' }],
    [{ payees: ['account:a'], denyPayees: ['account:b'] }, { spends: () => usd(1) }],
    [{ limits: [{ operations: ['notes.*'], window: 'day', maxCount: 1 }] }, {}],
    [{ allowCardSecrets: true }, {}],
  ]
  for (const [policy, spending] of cases) {
    const { world, options, lines } = mistaken({ policy })
    await afterStart(t, () => void gatewright(options).write('notes.create', { ...write, ...spending }, paid))
    const gw = gatewright(options)
    await send(gw.write('notes.create', { ...write, ...spending }, paid), world)
    t.same(
      lines.filter(line => line.includes('policy')),
      [],
      JSON.stringify(policy),
    )
  }
})

t.test(
  'says nothing of the operations of Next.js, whose routes are loaded when they are first requested',
  async t => {
    const { options, lines } = mistaken({ policy: { dailySpendCapCents: 1 } })
    await afterStart(
      t,
      () => void onNext(options as never).read('payments.list', { scope: 'payments.read' }, paid),
    )
    t.same(lines, [])
  },
)

t.test('a source of policies that fails is reported as before', async t => {
  for (const policies of [() => Promise.reject(new Error('down')), () => undefined]) {
    const { world, options, lines } = mistaken({ policies })
    t.equal(await send(gatewright(options).write('notes.create', write, paid), world), 503)
    t.match(lines, [/sessionPolicies|policies/])
  }
})

const schema = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } }

t.test(
  'a function for the amount that throws or gives no number: the log names the function, and what it gave',
  async t => {
    const cases: readonly [string, (body: never) => unknown, RegExp][] = [
      [
        'throws',
        () => (undefined as unknown as { a: { b: number } }).a.b,
        /the function that returns the amount threw TypeError/,
      ],
      [
        'undefined',
        () => ({ amountCents: undefined, currency: 'USD' }),
        /gave \{ amountCents: undefined, currency: "USD" \}/,
      ],
      ['NaN', () => usd(Number('a')), /gave \{ amountCents: NaN, currency: "USD" \}/],
      [
        'text',
        () => ({ amountCents: '100', currency: 'USD' }),
        /gave \{ amountCents: string, currency: "USD" \}/,
      ],
      ['no currency', () => ({ amountCents: 1 }), /gave \{ amountCents: 1, currency: undefined \}/],
      ['nothing', () => undefined, /must return \{ amountCents, currency \}, got undefined/],
    ]
    for (const kind of ['spends', 'withdraws'])
      for (const [name, amount, line] of cases) {
        const { world, options, lines } = mistaken({ policy: { dailySpendCapCents: 1000 } })
        let runs = 0
        const handler = gatewright(options).write(
          'payments.create',
          { ...write, body: schema, [kind]: amount } as never,
          () => {
            runs++
            return paid()
          },
        )
        t.equal(
          await send(handler, world),
          ['throws', 'nothing'].includes(name) ? 500 : 400,
          `${kind} ${name}`,
        )
        t.match(lines, [line], `${kind} ${name}`)
        t.equal(runs, 0)
      }
  },
)

t.test(
  'an amount that is no amount of money is denied, and the log names the function and what it gave',
  async t => {
    for (const amountCents of [10.5, -1, 2 ** 60, 0.1 + 0.2]) {
      const { world, options, lines } = mistaken({ policy: { dailySpendCapCents: 1000 } })
      const handler = gatewright(options).write(
        'payments.create',
        { ...write, spends: () => usd(amountCents) },
        paid,
      )
      for (const key of ['the-first-key', 'the-second-key']) t.equal(await send(handler, world, { key }), 400)
      t.equal(lines.length, 1, 'once')
      t.ok(lines[0]?.includes(`gave { amountCents: ${amountCents}, currency: "USD" }`), lines[0] ?? '')
    }
  },
)

t.test('a handler that was charged more than it holds: settle throws, and the whole hold counts', async t => {
  const { world, options, lines } = mistaken({ policy: { dailySpendCapCents: 100 } })
  const gw = gatewright(options)
  // The amount of the body is in dollars, and spends took it for cents.
  const body = z.object({ dollars: z.number() })
  const spends = ({ dollars }: { dollars: number }) => usd(dollars)
  const handler = gw.write('payments.create', { ...write, body, spends }, ({ body, hold }) => {
    hold.settle(body.dollars * 100)
    return paid()
  })
  t.equal(await send(handler, world, { body: { dollars: 60 } }), 500)
  t.match(lines[1], /settle takes an integer from 0 to 60, the reserved amount, got 6000/)
  t.equal(await send(handler, world, { body: { dollars: 60 }, key: 'another-key' }), 403, 'its 60 count')
})
