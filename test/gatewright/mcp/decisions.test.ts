import { McpServer } from '@modelcontextprotocol/server'
import { gatewright } from 'gatewright/fetch'
import { mcp } from 'gatewright/mcp'
import t from 'tap'
import { z } from 'zod'
import { CAP, createWorld } from '../world.ts'
import { answerOf, callOf, createShop, denialOf, messageOf, type Sent } from './shop.ts'

const BOTH = 'payments.read payments.write'

/** A shop whose payments above 10 USD must be approved, and how a client calls it to pay 20 USD. */
async function askingShop() {
  const { options, ...world } = createWorld()
  const url = ({ id }: { readonly id: string }) => `https://shop.example/approvals/${id}`
  const policy = { ...options.policy, approveAboveCents: 1000 }
  const shop = createShop({
    world: { ...world, options: { ...options, policy, approvals: { url } } as never },
  })
  const token = await world.token(BOTH)
  const params = { name: 'payments.create', arguments: { orderId: 'order-1', amountCents: 2000 } }
  const call = async (sent: Sent, more: object = {}) =>
    answerOf(await shop.serve(messageOf('tools/call', { ...params, ...more }, { token, ...sent })))
  return { shop, world, url, call }
}

t.test(
  'a client that opens pages is asked to open that of the approval, and each call is decided anew',
  async t => {
    const { shop, world, url, call } = await askingShop()
    const can = (elicitation: object): Sent => ({
      meta: { 'io.modelcontextprotocol/clientCapabilities': { elicitation } },
    })
    t.match(
      denialOf(await call(can({ form: {} }))),
      { error: 'approval_required' },
      'a client that only fills forms',
    )
    const { result } = await call(can({ url: {} }))
    const [waiting] = (await shop.guard.approvals?.list('auth0|ann')) ?? []
    const id = waiting?.id ?? ''
    const { _meta: _, ...asked } = result as NonNullable<typeof result> & { readonly _meta: unknown }
    t.same(asked, {
      resultType: 'input_required',
      inputRequests: {
        approve: {
          method: 'elicitation/create',
          params: {
            mode: 'url',
            url: url({ id }),
            message:
              'A payment of 20.00 USD waits until the owner of the account approves it. Open this page to approve or deny it.',
          },
        },
      },
    })
    for (const action of ['accept', 'decline', 'cancel']) {
      const again = await call(can({ url: {} }), {
        inputResponses: { approve: { action } },
        requestState: 'approved by the owner',
      })
      t.match(denialOf(again), { error: 'approval_required', approvalId: id }, `${action} approves nothing`)
    }
    t.equal(world.processor.calls.length, 0)
    await shop.guard.approvals?.approve('auth0|ann', id, 'ann')
    const paid = await call(can({ url: {} }), { inputResponses: { approve: { action: 'decline' } } })
    t.match(paid.result?.content[0]?.text, /^paid /, 'what the client says decides nothing')
    t.equal(world.processor.calls.length, 1)
  },
)

for (const era of ['modern', 'legacy'] as const) {
  t.test(
    `${era}: a call pays once for its order, whatever id, key or order of members it comes with`,
    async t => {
      const { world, serve } = createShop()
      const token = await world.token(BOTH)
      const call = async (args: object, sent: Sent) =>
        answerOf(await serve(callOf('payments.create', args, { token, era, ...sent })))
      const first = await call({ orderId: 'order-1', amountCents: 500, note: 'a' }, { id: 1 })
      t.equal(first.result?.isError, undefined)
      t.equal(first.id, 1)
      const again = await call({ note: 'a', amountCents: 500, orderId: 'order-1' }, { id: 2 })
      t.equal(again.id, 2)
      t.same(again.result?.content, first.result?.content)
      const keyed = await call(
        { orderId: 'order-1', amountCents: 500, note: 'a' },
        { id: 3, meta: { 'idempotency-key': 'another-key-of-the-client' } },
      )
      t.same(keyed.result?.content, first.result?.content)
      t.equal(world.processor.calls.length, 1)
      const reused = denialOf(await call({ orderId: 'order-1', amountCents: 501 }, { id: 4 }))
      t.equal(reused['error'], 'idempotency_key_reused')
      await call({ orderId: 'order-2', amountCents: 500 }, { id: 5 })
      t.equal(world.processor.calls.length, 2)
    },
  )

  t.test(`${era}: a call without an order needs the key of the client, and is told what to send`, async t => {
    const { world, serve } = createShop()
    const token = await world.token(BOTH)
    const call = async (sent: Sent) =>
      answerOf(await serve(callOf('payments.create', { amountCents: 500 }, { token, era, ...sent })))
    const denied = await call({})
    t.equal(denied.result?.isError, true)
    t.match(denialOf(denied), {
      error: 'idempotency_key_required',
      message: /the argument orderId, or the key of the client in _meta\["idempotency-key"\]/,
    })
    t.equal(world.processor.calls.length, 0)
    const first = await call({ meta: { 'idempotency-key': 'intent-of-the-client' } })
    const again = await call({ id: 9, meta: { 'idempotency-key': 'intent-of-the-client' } })
    t.same(again.result?.content, first.result?.content)
    t.equal(world.processor.calls.length, 1)
  })

  t.test(`${era}: a cap is a result with what is left, which no schema of the result has to fit`, async t => {
    const { world, serve } = createShop()
    const token = await world.token(BOTH)
    const tip = async (amountCents: number, key: string) =>
      serve(callOf('tips.create', { amountCents }, { token, era, meta: { 'idempotency-key': key } }))
    await tip(CAP - 100, 'first-tip')
    const response = await tip(101, 'second-tip')
    t.equal(response.status, 200)
    const answer = await answerOf(response)
    t.equal(answer.result?.isError, true)
    t.equal(answer.result?.structuredContent, undefined)
    t.match(denialOf(answer), {
      error: 'policy_blocked',
      rule: 'dailySpendCapCents',
      limit: CAP,
      remaining: 100,
      requested: 101,
      resetsAt: String,
      next: /same arguments/,
    })
    const without = await answerOf(
      await serve(callOf('payments.create', { orderId: 'o', amountCents: 101 }, { token, era })),
    )
    t.same(without.result?.structuredContent, denialOf(without))
    t.equal(
      (await answerOf(await tip(100, 'second-tip'))).result?.isError,
      undefined,
      'its key was free again',
    )
  })

  t.test(`${era}: an amount that a person must approve is a result that says where`, async t => {
    const { shop, world, url, call: send } = await askingShop()
    const call = () => send({ era })
    const asked = denialOf(await call())
    const id = String(asked['approvalId'])
    t.match(asked, {
      error: 'approval_required',
      limit: 1000,
      requested: 2000,
      approveUrl: url({ id }),
      next: /Give the person approveUrl.* same arguments/,
    })
    t.equal(denialOf(await call())['approvalId'], id, 'a repeat asks for the same approval')
    t.equal(world.processor.calls.length, 0)
    await shop.guard.approvals?.approve('auth0|ann', id, 'ann')
    const paid = await call()
    t.match(paid.result?.content[0]?.text, /^paid /)
    t.same((await call()).result, paid.result)
    t.equal(world.processor.calls.length, 1)
  })

  t.test(
    `${era}: a missing scope is a challenge with all scopes of the tool, before anything runs`,
    async t => {
      const { world, serve } = createShop({
        gate: {
          protectedResource: {
            resource: 'https://shop.example/mcp',
            authorizationServers: ['https://login.example'],
          },
        },
      })
      const token = await world.token('payments.read')
      const response = await serve(
        callOf(
          'tips.create',
          { amountCents: 1 },
          { token, era, meta: { 'idempotency-key': 'a-tip-of-one' } },
        ),
      )
      t.equal(response.status, 403)
      const challenge = response.headers.get('www-authenticate') ?? ''
      t.match(challenge, /^Bearer .*error="insufficient_scope", scope="payments.read payments.write"/)
      t.match(challenge, 'resource_metadata="https://shop.example/.well-known/oauth-protected-resource/mcp"')
      t.equal(world.processor.calls.length, 0)
      const anonymous = await serve(callOf('payments.read', {}, { era }))
      t.equal(anonymous.status, 401)
      t.match(anonymous.headers.get('www-authenticate'), /resource_metadata=/)
    },
  )

  t.test(
    `${era}: the list has the tools that the scopes allow, always in the order of their registration`,
    async t => {
      const { world, serve } = createShop()
      const list = async (scope: string) => {
        const answer = await answerOf(
          await serve(messageOf('tools/list', {}, { token: await world.token(scope), era })),
        )
        return answer.result?.tools?.map(({ name }) => name)
      }
      t.same(await list(BOTH), ['payments.create', 'payments.read', 'tips.create'])
      t.same(await list('payments.read'), ['payments.read'])
      t.same(await list('payments.write'), ['payments.create'])
      t.same(await list(BOTH), ['payments.create', 'payments.read', 'tips.create'])
    },
  )

  t.test(
    `${era}: wrong arguments are a result that names the argument, and a read needs no intent`,
    async t => {
      const { world, serve } = createShop()
      const token = await world.token(BOTH)
      const wrong = await answerOf(
        await serve(callOf('payments.create', { orderId: 'o', amountCents: 'much' }, { token, era })),
      )
      t.match(denialOf(wrong), { error: 'invalid_request', field: 'amountCents' })
      const read = await answerOf(await serve(callOf('payments.read', {}, { token, era })))
      t.same(read.result?.structuredContent, { owner: 'auth0|ann', paid: 0 })
    },
  )

  t.test(
    `${era}: a failure says that the call runs at most once, and the repeat has the id of the operation`,
    async t => {
      const { world, serve } = createShop({
        gate: { report: () => {}, hint: false },
        before: () => Promise.reject(new Error('the processor is away')),
      })
      const token = await world.token(BOTH)
      const call = async () =>
        denialOf(
          await answerOf(
            await serve(callOf('payments.create', { orderId: 'o-1', amountCents: 500 }, { token, era })),
          ),
        )
      t.match(await call(), { error: 'internal_error', operationId: String, next: /same arguments/ })
      t.match(await call(), { error: 'outcome_unknown', operationId: String, next: /never as a new order/ })
      t.equal(world.processor.calls.length, 0)
    },
  )
}

t.test(
  'a handler that denies with 401 gives a result: the token of the client is not what is wrong',
  async t => {
    const world = createWorld()
    const gw = gatewright({ ...world.options, peer: 'none' })
    const { guardTool, handle } = mcp(gw, { peer: 'none' })
    const serve = handle(() => {
      const server = new McpServer({ name: 'shop', version: '1.0.0' })
      const denied = { ok: false, code: 'not_linked', status: 401, message: 'No card is linked' } as const
      guardTool(
        server,
        'cards.read',
        { scope: 'payments.read', read: true },
        { description: 'Reads the card.', inputSchema: z.strictObject({}) },
        () => denied,
      )
      return server
    })
    for (const era of ['modern', 'legacy'] as const) {
      const response = await serve(
        callOf('cards.read', {}, { token: await world.token('payments.read'), era }),
        undefined,
      )
      t.equal(response.status, 200)
      t.match(denialOf(await answerOf(response)), { error: 'not_linked', message: 'No card is linked' })
    }
  },
)

t.test(
  'a batch of the old era does not pass the gate, and neither does a body that is no message',
  async t => {
    const { world, serve } = createShop()
    const token = await world.token(BOTH)
    const one = await callOf(
      'payments.create',
      { orderId: 'o', amountCents: 1 },
      { token, era: 'legacy' },
    ).json()
    for (const body of [JSON.stringify([one, one]), JSON.stringify([one]), '[', '"x"', 'null', '1']) {
      const response = await serve(
        new Request('http://127.0.0.1/mcp', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            authorization: `Bearer ${token}`,
          },
          body,
        }),
      )
      t.equal(response.status, 400, body)
      t.equal((await answerOf(response)).error?.code, -32600)
    }
    t.equal(world.processor.calls.length, 0)
  },
)
