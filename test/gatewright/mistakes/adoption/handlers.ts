import { paid, WRITE, type Mistake, type Trial, firstRequest } from './trial.ts'

type Handler = Parameters<ReturnType<Trial['fetch']>['write']>[2]

/** A server with one write, whose handler is wrong. */
const handled = (mistake: string, says: RegExp, handler: unknown, write: object = {}): Mistake =>
  firstRequest(mistake, says, trial => {
    const mounted = trial.fetch().write('payments.create', { ...WRITE, ...write }, handler as Handler)
    return () => trial.send(mounted)
  })

/** An application of Express with one protected write. */
const behind = (
  mistake: string,
  says: RegExp,
  handler: (request: unknown, response: ExpressResponse) => unknown,
): Mistake =>
  firstRequest(mistake, says, trial =>
    trial.express((app, gw) => {
      app.post('/payments', gw.protectWrite('payments.create', WRITE), handler as never)
      // Express writes errors to the standard error.
      app.use(((error: unknown, _request: unknown, _response: unknown, next: (error: unknown) => void) => {
        trial.lines.push(String(error))
        next(error)
      }) as never)
    }),
  )
interface ExpressResponse {
  status(code: number): ExpressResponse
  json(body: unknown): void
}

const HANDED = /the handler takes 2 parameters, as \(request, response\)/
/** What handlers return, throw and forget. */
export const HANDLERS: readonly Mistake[] = [
  {
    mistake: 'a handler of the framework in gw.write',
    shows: 'at start',
    says: HANDED,
    make: ({ fetch }) =>
      fetch().write('payments.create', WRITE, ((_a: unknown, _b: unknown) => paid()) as never),
  },
  {
    mistake: 'the result of a handler in place of the handler',
    shows: 'at start',
    says: /the handler must be a function, got object/,
    make: ({ fetch }) => fetch().write('payments.create', WRITE, paid() as never),
  },
  {
    mistake: 'a guarded handler guarded again',
    shows: 'at start',
    says: /the handler is guarded already/,
    make: ({ fetch }) => {
      const gw = fetch()
      const inner = gw.write('payments.create', WRITE, paid)
      gw.write('payments.repeat', WRITE, inner as never)
    },
  },
  handled('a handler that returns nothing', /must return .*status/, () => undefined),
  handled('a handler that returns the body alone', /must return .*status|status must/, () => ({ id: 1 })),
  handled('a status that is a text', /status/, () => ({ status: '201' })),
  handled('a body with a BigInt', /BigInt/, () => ({ status: 201, body: { cents: 1n } })),
  handled('header fields as an object', /headers must be a list of pairs/, () => ({
    status: 201,
    headers: { location: '/payments/1' },
  })),
  handled('an error after the effect', /the outcome of the run \S+ is unknown.*noEffectStatuses/, () => {
    throw new Error('the audit failed')
  }),
  handled(
    'an error before the effect that no one marks',
    /the outcome of the run \S+ is unknown.*nothingHappened/,
    () => {
      throw Object.assign(new Error('out of stock'), { status: 409 })
    },
  ),
  handled('a 500 that the handler returns', /the outcome of the run \S+ is unknown/, () => ({ status: 500 })),
  behind(
    'a response twice',
    /a response was written after the response, .*write return before the first/,
    (_request, response) => {
      response.status(201).json({})
      response.status(201).json({})
    },
  ),
  behind(
    'an error handler that hides an error after the effect',
    /the outcome of the run \S+ is unknown/,
    () => {
      throw Object.assign(new Error('failed'), { status: 400 })
    },
  ),
  behind('no handler behind a guard that calls next', /no handler|did not respond|404/, ((
    _request: unknown,
    _response: unknown,
    next: () => void,
  ) => next()) as never),
]
