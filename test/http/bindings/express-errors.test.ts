// Whether a handler or an error handler wrote a response.
import express, { type ErrorRequestHandler } from 'express'
import t from 'tap'
import { keepOriginalUrl, watchHandlers } from '#packages/http/dist/bindings/express-errors.js'

type Watched = Parameters<typeof watchHandlers>[0]

/** Who writes a response while the handler is called. */
function authorOf({ start, author }: ReturnType<typeof watchHandlers>): string {
  let by = ''
  start(() => {
    ;({ by } = author())
  })
  return by
}

/** A request as far as it is read. */
const request = (members: object): Watched => members as Watched

t.test('keeps the first original target of a request, which no framework has set then', async t => {
  for (const [given, kept] of [
    [{ url: '/a' }, '/a'],
    [{}, ''],
    [{ url: '/a', originalUrl: '/b' }, '/b'],
  ]) {
    const made = request(given as object)
    keepOriginalUrl(made)
    keepOriginalUrl(made)
    t.equal((made as { originalUrl?: string }).originalUrl, kept)
  }
})

t.test('outside a route the author is unknown below a framework, and else the handler', async t => {
  t.equal(authorOf(watchHandlers(request({ url: '/a' }))), 'handler')
  t.equal(authorOf(watchHandlers(request({ url: '/a', originalUrl: '/a' }))), 'unknown')
  const translated = request({ url: '/a' })
  keepOriginalUrl(translated)
  t.equal(authorOf(watchHandlers(translated)), 'handler', 'it was set by the gate')
  t.equal(authorOf(watchHandlers(request({ originalUrl: '/a', route: {}, method: 'POST' }))), 'unknown')
  t.equal(
    authorOf(watchHandlers(request({ originalUrl: '/a', route: { post: () => {} } }))),
    'unknown',
    'no method',
  )
})

/** The route of an application, with these handlers after the gate. */
function routeOf(...handlers: readonly (express.RequestHandler | ErrorRequestHandler)[]) {
  const route = express.Router().route('/')
  route.post((_request, _response, next) => next(), ...(handlers as express.RequestHandler[]))
  return route
}

const plain: express.RequestHandler = (_request, response) => void response.end()
const own: ErrorRequestHandler = (_error, _request, response, _next) => void response.end()

t.test('the author is the handler of a route without its own error handlers and routers', async t => {
  for (const [route, author] of [
    [routeOf(plain), 'handler'],
    [routeOf(own, plain), 'unknown'],
    [routeOf(plain, own), 'unknown'],
    [routeOf(express.Router()), 'unknown'],
    [routeOf(express()), 'unknown'],
    [routeOf(Object.assign(() => {}, { stack: [] })), 'unknown'],
    [routeOf(Object.assign(() => {}, { handle: () => {} })), 'unknown'],
  ] as const) {
    const watched = request({ method: 'POST', originalUrl: '/', route })
    t.equal(authorOf(watchHandlers(watched)), author)
  }
  const custom = { post: () => {}, stack: [{ handle: undefined }] }
  t.equal(authorOf(watchHandlers(request({ method: 'POST', route: custom }))), 'unknown')
  t.equal(
    authorOf(watchHandlers(request({ method: 'POST', route: { post: () => {} } }))),
    'unknown',
    'no list',
  )
})

t.test('the author is unknown once the request is in another route', async t => {
  const watched = { method: 'POST', originalUrl: '/', route: routeOf(plain) as unknown }
  const found = watchHandlers(request(watched))
  t.equal(authorOf(found), 'handler')
  watched.route = routeOf(plain)
  t.equal(authorOf(found), 'unknown')
})

t.test('watches each method of a route once, and recognizes the response of an error handler', async t => {
  const route = routeOf(plain)
  const count = (): number => route.stack.length
  const before = count()
  const watched = request({ method: 'POST', originalUrl: '/', route })
  const { author } = watchHandlers(watched)
  t.equal(count(), before + 1)
  watchHandlers(request({ method: 'POST', originalUrl: '/', route }))
  t.equal(count(), before + 1)
  watchHandlers(request({ method: 'PUT', originalUrl: '/', route }))
  t.equal(count(), before + 2)
  const record = route.stack.at(-1)?.handle as unknown as ErrorRequestHandler
  const passed: unknown[] = []
  record(new Error('thrown'), watched as never, {} as never, error => passed.push(error))
  t.match(passed, [{ message: 'thrown' }])
  t.equal(author().by, 'error handler')
  t.equal(
    authorOf(watchHandlers(request({ method: 'POST', originalUrl: '/', route }))),
    'handler',
    'another request',
  )
})

t.test('the author of what nobody after the guard has called is somebody else', async t => {
  for (const watched of [{ url: '/a' }, { method: 'POST', originalUrl: '/', route: routeOf(plain) }])
    t.equal(watchHandlers(request(watched)).author().by, 'other')
})

/** Calls a handler of a route as a router does. */
function callLayer(
  route: ReturnType<typeof routeOf>,
  index: number,
  watched: Watched,
  next: () => void = () => {},
) {
  const handle = route.stack[index]?.handle as (...args: unknown[]) => unknown
  return handle(watched, {}, next)
}

t.test('a handler of a route is the author until the next one starts', async t => {
  const authors: string[] = []
  const noteAuthor = (): unknown => authors.push(found.author().by)
  const time: express.RequestHandler = async (_request, _response, next) => {
    noteAuthor()
    next()
    await Promise.resolve()
    noteAuthor()
  }
  const pay: express.RequestHandler = async () => {
    await Promise.resolve()
    noteAuthor()
  }
  const route = routeOf(time, pay)
  const watched = request({ method: 'POST', originalUrl: '/', route })
  const found = watchHandlers(watched)
  await Promise.all([callLayer(route, 1, watched), callLayer(route, 2, watched)])
  t.same(authors, ['handler', 'other', 'handler'])
  found.end(true)
  await callLayer(route, 2, watched)
  t.equal(authors.length, 3, 'it does not start after the key was freed')
})

t.test('an error of a time-out is not that of the handler, which goes on', async t => {
  const timeOut: express.RequestHandler = (_request, _response, next) => {
    next(new Error('time-out'))
  }
  const route = routeOf(timeOut, () => {})
  const watched = request({ method: 'POST', originalUrl: '/', route })
  const found = watchHandlers(watched)
  const record = route.stack.at(-1)?.handle as unknown as ErrorRequestHandler
  const fail = (): unknown => record(new Error('time-out'), watched as never, {} as never, () => {})
  callLayer(route, 2, watched)
  fail()
  t.equal(found.author().by, 'other')
  callLayer(route, 1, watched)
  fail()
  t.equal(found.author().by, 'error handler')
})
