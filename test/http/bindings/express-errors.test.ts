// Whether a handler or an error handler wrote a response.
import express, { type ErrorRequestHandler } from 'express'
import t from 'tap'

type ExpressErrors = typeof import('../../../packages/http/dist/bindings/express-errors.js')
type Watched = Parameters<ExpressErrors['watchErrors']>[0]

// Not exported by the package.
const { keepOriginalUrl, watchErrors } = (await import(
  `${process.cwd()}/packages/http/dist/bindings/express-errors.js`
)) as ExpressErrors

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
  t.equal(watchErrors(request({ url: '/a' }))().by, 'handler')
  t.equal(watchErrors(request({ url: '/a', originalUrl: '/a' }))().by, 'unknown')
  const translated = request({ url: '/a' })
  keepOriginalUrl(translated)
  t.equal(watchErrors(translated)().by, 'handler', 'it was set by the gate')
  t.equal(watchErrors(request({ originalUrl: '/a', route: {}, method: 'POST' }))().by, 'unknown')
  t.equal(watchErrors(request({ originalUrl: '/a', route: { post: () => {} } }))().by, 'unknown', 'no method')
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
    t.equal(watchErrors(watched)().by, author)
  }
  const custom = { post: () => {}, stack: [{ handle: undefined }] }
  t.equal(watchErrors(request({ method: 'POST', route: custom }))().by, 'unknown')
  t.equal(watchErrors(request({ method: 'POST', route: { post: () => {} } }))().by, 'unknown', 'no list')
})

t.test('the author is unknown once the request is in another route', async t => {
  const watched = { method: 'POST', originalUrl: '/', route: routeOf(plain) as unknown }
  const author = watchErrors(request(watched))
  t.equal(author().by, 'handler')
  watched.route = routeOf(plain)
  t.equal(author().by, 'unknown')
})

t.test('watches each method of a route once, and recognizes the response of an error handler', async t => {
  const route = routeOf(plain)
  const count = (): number => route.stack.length
  const before = count()
  const watched = request({ method: 'POST', originalUrl: '/', route })
  const author = watchErrors(watched)
  t.equal(count(), before + 1)
  watchErrors(request({ method: 'POST', originalUrl: '/', route }))
  t.equal(count(), before + 1)
  watchErrors(request({ method: 'PUT', originalUrl: '/', route }))
  t.equal(count(), before + 2)
  const record = route.stack.at(-1)?.handle as unknown as ErrorRequestHandler
  const passed: unknown[] = []
  record(new Error('thrown'), watched as never, {} as never, error => passed.push(error))
  t.match(passed, [{ message: 'thrown' }])
  t.equal(author().by, 'error handler')
  t.equal(
    watchErrors(request({ method: 'POST', originalUrl: '/', route }))().by,
    'handler',
    'another request',
  )
})
