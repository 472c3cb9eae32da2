import t from 'tap'
import { sample, serveOperations } from './serve-operations.ts'

const TABLE = [sample({ id: 'things.get', credential: 'none' })]

t.test(
  "a team's middleware runs for pages, operations and unknown paths, and reads what is sent",
  async t => {
    const seen: [string, number, number][] = []
    const { send } = await serveOperations(t, TABLE, {
      middleware: [
        async (ctx, next) => {
          await next()
          ctx.set('X-Team', 'a')
          seen.push([ctx.path, ctx.status, (ctx.body as string | Buffer).length])
        },
      ],
    })
    const paths = ['/page', '/user/v1/things', '/nothing']
    for (const path of paths) {
      const { headers, text } = await send(path)
      t.equal(headers.get('x-team'), 'a', path)
      t.equal(seen.at(-1)?.[2], text.length)
    }
    t.same(
      seen.map(([path, status]) => [path, status]),
      [
        ['/page', 405],
        ['/user/v1/things', 200],
        ['/nothing', 404],
      ],
    )
  },
)

t.test("a team's middleware can respond itself, and nothing behind it runs", async t => {
  const { send, decisions } = await serveOperations(t, TABLE, {
    middleware: [
      ctx => {
        ctx.status = 418
      },
    ],
  })
  t.equal((await send('/user/v1/things')).status, 418)
  t.same(decisions, [])
})

t.test("an error of a team's middleware is rendered as one of an operation, and reported", async t => {
  const { send, decisions } = await serveOperations(t, TABLE, {
    middleware: [
      () => {
        throw new Error('a fault of the team')
      },
    ],
  })
  const { status, body } = await send('/user/v1/things')
  t.equal(status, 500)
  t.match(body, { error: 'internal_error' })
  t.notMatch(JSON.stringify(body), 'a fault of the team')
  t.match(decisions, [{ status: 500, failure: { message: 'a fault of the team' } }])
})
