import type { Choices } from './choices.ts'
import { FRAMEWORK_TEMPLATES } from './frameworks.ts'
import { PREPARE_STORE, STORE_TEMPLATES } from './stores.ts'

/** A text as a literal of TypeScript. */
const literal = (text: string): string => `'${text.replaceAll(/['\\]/g, '\\$&')}'`

/** Imports in one order: those of Node, those of packages, then files. */
function sortedImports(lines: readonly string[]): string {
  const specifier = (line: string): string => line.slice(line.lastIndexOf(' from ') + 7)
  const rank = (line: string): string =>
    (specifier(line).startsWith('node:') ? '0' : specifier(line).startsWith('.') ? '2' : '1') +
    specifier(line)
  return lines.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)).join('\n')
}

const indented = (code: string): string => code.replaceAll('\n', '\n  ')

const writeOptions = (scope: string): string => `{
  scope: ${literal(scope)},
  body: z.object({ amountCents: z.number().int().positive() }),
  // Held against the caps of the caller before the handler runs.
  spends: body => ({ amountCents: body.amountCents, currency: 'USD' }),
}`

/** Statements that declare `createPayment`. */
const createPayment = (
  scope: string,
  peer?: string,
): string => `const gw = gatewright(${peer === undefined ? 'options' : `{\n    ...options,\n    ${peer},\n  }`})
  const createPayment = gw.write(
    'payments.create',
    ${indented(indented(writeOptions(scope)))},
    async ({ body, effectId }) => {
      // If pay throws, nobody knows whether it has paid: the amount stays held, and the key runs no second time.
      const { status } = await pay(body, { idempotencyKey: effectId })
      if (status === 'declined') return { status: 402, body: { error: 'payment_declined' } }
      return { status: 201, body: { id: effectId, ...body } }
    },
  )
  `

/** The file that makes the server; for other frameworks than Next, it also starts it. */
export function serverFile(
  { framework, issuer, audience, store }: Choices,
  { name, scope }: { readonly name?: string; readonly scope: string },
): string {
  const { imports, options, classes, head, peer, mount, listen } = FRAMEWORK_TEMPLATES[framework]
  const stored = STORE_TEMPLATES[store]
  const starts = listen !== ''
  const lines = [...imports, "import { z } from 'zod'", ...(starts ? stored.imports : [])]
  const provider = name === undefined ? '' : `\n  provider: ${literal(name)},`
  return `${sortedImports(lines)}

/** What is the same wherever the server runs: the tests replace the store and the keys of the issuer, and nothing else. */
export const options = {
  issuer: ${literal(issuer)},
  audience: ${literal(audience)},${provider}
  policy: { dailySpendCapCents: 10_000 }, // each account may spend 100.00 USD a day
} as const satisfies Omit<${options}, 'store'${peer === undefined ? '' : " | 'peer'"}>

/** Your payment processor, which pays once for each idempotency key. */
export type Pay = (
  payment: { amountCents: number },
  once: { idempotencyKey: string },
) => Promise<{ status: 'paid' | 'declined' }>

${classes ? `${classes(writeOptions(scope))}\n\n` : ''}/** Makes the server. */
export ${head} {
  ${classes ? '' : createPayment(scope, peer)}${mount}
}
${
  starts
    ? `
/** Replace it by a call of your payment processor. */
const pay: Pay = async ({ amountCents }, { idempotencyKey }) => {
  console.log(\`pay \${amountCents} cents under the key \${idempotencyKey}\`)
  return { status: 'paid' }
}

// As npm start writes it. A test that imports this file starts servers of its own.
if (process.argv.includes('--listen')) {
  ${indented(stored.open)}
  ${indented(PREPARE_STORE)}
  const port = Number(process.env['PORT'] ?? 3000)
  ${indented(listen)}
  console.log(\`listens on http://127.0.0.1:\${port}\`)
}
`
    : ''
}`
}

/** The route of Next, which opens the store. */
export function startFile({ store }: Choices): string {
  const stored = STORE_TEMPLATES[store]
  const imports = [
    ...stored.imports,
    "import { createRoutes, options, type Pay } from '../../../payments.ts'",
  ]
  return `${sortedImports(imports)}

${stored.open}
${PREPARE_STORE}

/** Replace it by a call of your payment processor. */
const pay: Pay = async ({ amountCents }, { idempotencyKey }) => {
  console.log(\`pay \${amountCents} cents under the key \${idempotencyKey}\`)
  return { status: 'paid' }
}

export const { POST } = createRoutes({ ...options, store }, pay)
`
}

/** The test of a project. */
export function testFile({ framework }: Choices, scope: string): string {
  const { testImports, send } = FRAMEWORK_TEMPLATES[framework]
  const file =
    framework === 'next'
      ? "import { createRoutes, options } from './payments.ts'"
      : "import { createApp, options } from './app.ts'"
  const imports = [
    ...testImports,
    "import assert from 'node:assert/strict'",
    "import { test } from 'node:test'",
    "import { testGateway, testProcessor, testSession } from 'gatewright/testing'",
    file,
  ]
  const other = scope.startsWith('role:') ? 'role:anonymous' : 'payments.read'
  return `${sortedImports(imports)}

const ann = testSession({ accountId: 'ann', scopes: [${literal(scope)}] })

/** Starts a server with a store, a clock, an issuer and a payment processor of its own. */
async function start() {
  const gateway = testGateway(options)
  const processor = testProcessor()
  ${send}
  return {
    gateway,
    processor,
    close,
    /** Sends a payment. */
    async pay(key: string, amountCents: number, session = ann): Promise<Response> {
      return send({
        method: 'POST',
        headers: {
          authorization: \`Bearer \${await gateway.token(session)}\`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({ amountCents }),
      })
    },
  }
}

test('pays once, however often the request is repeated', async t => {
  const server = await start()
  t.after(server.close)
  assert.equal((await server.pay('order-0001', 2500)).status, 201)
  const repeated = await server.pay('order-0001', 2500)
  assert.equal(repeated.status, 201)
  assert.equal(repeated.headers.get('idempotency-replayed'), 'true')
  assert.equal(server.processor.paid.length, 1)
})

test('never pays again after a time-out', async t => {
  const server = await start()
  t.after(server.close)
  server.processor.timeOutNext()
  assert.equal((await server.pay('order-0001', 2500)).status, 500)
  assert.equal((await server.pay('order-0001', 2500)).status, 503)
  assert.equal(server.processor.paid.length, 1)
})

test('keeps the daily cap, which a declined payment does not count under', async t => {
  const server = await start()
  t.after(server.close)
  server.processor.declineNext()
  assert.equal((await server.pay('order-0001', 10_000)).status, 402)
  assert.equal((await server.pay('order-0002', 10_000)).status, 201)
  assert.equal((await server.pay('order-0003', 1)).status, 403)
  server.gateway.clock.advance(24 * 60 * 60 * 1000)
  assert.equal((await server.pay('order-0003', 1)).status, 201)
})

test('denies a caller without the scope', async t => {
  const server = await start()
  t.after(server.close)
  const reader = testSession({ scopes: [${literal(other)}] })
  assert.equal((await server.pay('order-0001', 2500, reader)).status, 403)
  assert.equal(server.processor.requests, 0)
})
`
}
