import type { Starter } from './starter.ts'

/** A server of a team on Express: TypeScript run by tsx, tests by vitest. Its parts are those of well-known boilerplates, in few lines. */
const PACKAGE = {
  name: 'express-starter',
  private: true,
  type: 'module',
  scripts: { start: 'tsx src/index.ts', test: 'vitest run' },
}

const TSCONFIG = {
  compilerOptions: {
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    esModuleInterop: true,
    skipLibCheck: true,
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: false,
  },
  include: ['src'],
}

const ENV = `import { z } from 'zod'

const schema = z.object({
  NODE_ENV: z.enum(['development', 'production', 'test']).default('development'),
  PORT: z.coerce.number().int().nonnegative().default(8080),
  CORS_ORIGIN: z.url().default('http://localhost:8080'),
  RATE_LIMIT: z.coerce.number().int().positive().default(1000),
})
const parsed = schema.safeParse(process.env)
if (!parsed.success) throw new Error('environment: ' + z.prettifyError(parsed.error))
export const env = parsed.data
`

const LOGGER = `import type { RequestHandler } from 'express'

export const lines: object[] = []
export const requestLogger: RequestHandler = (request, response, next) => {
  const startedAt = Date.now()
  response.on('finish', () => {
    const { method, originalUrl: url } = request
    lines.push({ level: response.statusCode >= 500 ? 'error' : 'info', method, url, status: response.statusCode, ms: Date.now() - startedAt })
  })
  next()
}
`

const ERRORS = `import type { ErrorRequestHandler, RequestHandler } from 'express'

export const notFound: RequestHandler = (_request, response) => {
  response.status(404).json({ success: false, message: 'Not Found' })
}
export const onError: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) return next(error)
  response.status(error.status ?? 500).json({ success: false, message: error.expose ? error.message : 'Internal error' })
}
`

const USERS = `import { Router } from 'express'
import { z } from 'zod'

export const User = z.object({ id: z.number(), name: z.string(), email: z.email() })
const users: z.infer<typeof User>[] = [
  { id: 1, name: 'Alice', email: 'alice@example.com' },
  { id: 2, name: 'Robert', email: 'robert@example.com' },
]
export const GetUser = z.object({ id: z.coerce.number().int().positive() })

export const usersRouter: Router = Router()
usersRouter.get('/', (_request, response) => {
  response.json({ success: true, responseObject: users })
})
usersRouter.get('/:id', (request, response) => {
  const params = GetUser.safeParse(request.params)
  if (!params.success) return void response.status(400).json({ success: false, message: 'Invalid input: id' })
  const user = users.find(({ id }) => id === params.data.id)
  if (!user) return void response.status(404).json({ success: false, message: 'User not found' })
  response.json({ success: true, responseObject: user })
})
`

const PAYMENTS = `import { Router } from 'express'
import { z } from 'zod'

export const Payment = z.object({ amountCents: z.number().int().positive() })
export const paid: { id: string; amountCents: number }[] = []

export const paymentsRouter: Router = Router()
paymentsRouter.post('/', (request, response) => {
  const body = Payment.safeParse(request.body)
  if (!body.success) return void response.status(400).json({ success: false, message: 'Invalid input: amountCents' })
  const payment = { id: 'pay_' + (paid.length + 1), ...body.data }
  paid.push(payment)
  response.status(201).json({ success: true, responseObject: payment })
})
`

const OPENAPI = `import { Router } from 'express'
import { z } from 'zod'
import { Payment } from './payments'
import { User } from './users'

export const document = {
  openapi: '3.1.0',
  info: { title: 'Express starter', version: '1.0.0' },
  paths: {
    '/health-check': { get: { responses: { 200: { description: 'healthy' } } } },
    '/users/{id}': { get: { responses: { 200: { description: 'a user' } } } },
    '/payments': { post: { responses: { 201: { description: 'paid' } } } },
  },
  components: { schemas: { User: z.toJSONSchema(User), Payment: z.toJSONSchema(Payment) } },
}
export const openApiRouter: Router = Router()
openApiRouter.get('/swagger.json', (_request, response) => {
  response.json(document)
})
`

const SERVER = `import cors from 'cors'
import express, { type Express } from 'express'
import { rateLimit } from 'express-rate-limit'
import helmet from 'helmet'
import { env } from './env'
import { notFound, onError } from './errors'
import { requestLogger } from './logger'
import { openApiRouter } from './openapi'
import { paymentsRouter } from './payments'
import { usersRouter } from './users'

export const app: Express = express()
app.use(express.json())
app.use(express.urlencoded({ extended: true }))
app.use(cors({ origin: env.CORS_ORIGIN, credentials: true }))
app.use(helmet())
app.use(rateLimit({ windowMs: 60_000, limit: env.RATE_LIMIT, legacyHeaders: false, standardHeaders: true }))
app.use(requestLogger)
app.get('/health-check', (_request, response) => {
  response.json({ success: true, message: 'Service is healthy' })
})
app.use('/users', usersRouter)
app.use('/payments', paymentsRouter)
app.use(openApiRouter)
app.use(notFound, onError)
`

const INDEX = `import { env } from './env'
import { app } from './server'

const server = app.listen(env.PORT, '127.0.0.1', () => {
  console.log('listening')
  if (process.argv.includes('--once')) server.close()
})
process.on('SIGTERM', () => server.close())
`

const OWN_TEST = `import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lines } from './logger'
import { app } from './server'

let url = ''
const server = app.listen(0, '127.0.0.1')
beforeAll(async () => {
  if (!server.listening) await new Promise(resolve => server.once('listening', resolve))
  url = 'http://127.0.0.1:' + (server.address() as AddressInfo).port
})
afterAll(() => void server.close())
const get = (path: string) => fetch(url + path)

describe('the server', () => {
  it('is healthy, with the fields of helmet and cors, and a line in the log', async () => {
    const response = await get('/health-check')
    expect(response.status).toBe(200)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('access-control-allow-origin')).toBe('http://localhost:8080')
    expect(response.headers.get('ratelimit-limit')).toBe('1000')
    expect(await response.json()).toEqual({ success: true, message: 'Service is healthy' })
    expect(lines).toContainEqual(expect.objectContaining({ level: 'info', url: '/health-check', status: 200 }))
  })
  it('returns users, and says what is wrong with an id', async () => {
    expect((await (await get('/users')).json()).responseObject).toHaveLength(2)
    expect(await (await get('/users/2')).json()).toMatchObject({ responseObject: { name: 'Robert' } })
    expect((await get('/users/9')).status).toBe(404)
    expect((await get('/users/abc')).status).toBe(400)
  })
  it('describes itself', async () => {
    const { paths, components } = await (await get('/swagger.json')).json()
    expect(Object.keys(paths)).toContain('/payments')
    expect(components.schemas.User.properties).toHaveProperty('email')
  })
  it('responds with 404 to an unknown path, and with 400 to a body that is not JSON', async () => {
    expect((await get('/none')).status).toBe(404)
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' }
    expect((await fetch(url + '/users', init)).status).toBe(400)
  })
})
`

const GATE = `import { gatewright, keepRawBody, memoryStore, type ExpressOptions } from 'gatewright/express'

export { keepRawBody }
export const options = {
  issuer: 'https://auth.example',
  audience: 'https://api.example',
  policy: { dailySpendCapCents: 10_000 },
  body: 'kept',
  store: memoryStore(),
} satisfies ExpressOptions
let made: ReturnType<typeof gatewright> | undefined
/** Tests call it before they import the server. */
export const replaceGate = (replacement: ExpressOptions) => void (made = gatewright(replacement))
export const gate = () => (made ??= gatewright(options))
`

const MONEY_TEST = `import type { AddressInfo } from 'node:net'
import { testGateway, testSession } from 'gatewright/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { options, replaceGate } from './gate'

let paid: { amountCents: number }[] = []
const kit = testGateway(options)
let url = ''
let close = () => {}
beforeAll(async () => {
  replaceGate(kit.options as never)
  ;({ paid } = await import('./payments'))
  const { app } = await import('./server')
  const server = app.listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  url = 'http://127.0.0.1:' + (server.address() as AddressInfo).port
  close = () => void server.close()
})
afterAll(() => close())

async function pay(accountId: string, key: string, amountCents: number) {
  const token = await kit.token(testSession({ accountId, scopes: ['payments.write'] }))
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', 'idempotency-key': key }
  return fetch(url + '/payments', { method: 'POST', headers, body: JSON.stringify({ amountCents }) })
}

it('pays 50 duplicates once', async () => {
  const statuses: number[] = []
  for (let n = 0; n < 5; n++)
    statuses.push(...(await Promise.all(Array.from({ length: 10 }, () => pay('ann', 'the-same-key', 100)))).map(({ status }) => status))
  expect(paid).toHaveLength(1)
  expect(statuses.filter(status => status !== 201 && status !== 409)).toEqual([])
  expect((await pay('ann', 'the-same-key', 100)).headers.get('idempotency-replayed')).toBe('true')
})
it('lets a cap of 100 USD pass exactly', async () => {
  const before = paid.length
  const statuses = await Promise.all(Array.from({ length: 30 }, async (_, n) => (await pay('bob', 'a-key-number-' + n, 500)).status))
  expect(statuses.filter(status => status === 201)).toHaveLength(20)
  expect(statuses.filter(status => status === 403)).toHaveLength(10)
  expect(paid.slice(before).reduce((sum, { amountCents }) => sum + amountCents, 0)).toBe(10_000)
})
it('refuses a payment without a token', async () => {
  expect((await fetch(url + '/payments', { method: 'POST' })).status).toBe(401)
})
`

export const EXPRESS: Starter = {
  name: 'Express boilerplate: TypeScript, vitest, tsx',
  files: {
    'package.json': JSON.stringify(PACKAGE, null, 2),
    'tsconfig.json': JSON.stringify(TSCONFIG, null, 2),
    'src/env.ts': ENV,
    'src/logger.ts': LOGGER,
    'src/errors.ts': ERRORS,
    'src/users.ts': USERS,
    'src/payments.ts': PAYMENTS,
    'src/openapi.ts': OPENAPI,
    'src/server.ts': SERVER,
    'src/index.ts': INDEX,
    'src/server.test.ts': OWN_TEST,
  },
  patched: {
    'src/gate.ts': GATE,
    'src/server.ts': SERVER.replace(
      "import { env } from './env'\n",
      "import { env } from './env'\nimport { keepRawBody } from './gate'\n",
    ).replace('express.json()', 'express.json({ verify: keepRawBody })'),
    'src/payments.ts': PAYMENTS.replace(
      "import { z } from 'zod'\n",
      "import { z } from 'zod'\nimport { gate } from './gate'\n",
    ).replace(
      "paymentsRouter.post('/', (request",
      `const spends = ({ amountCents }: z.infer<typeof Payment>) => ({ amountCents, currency: 'USD' })
paymentsRouter.post('/', gate().protectWrite('payments.create', { scope: 'payments.write', body: Payment, spends }), (request`,
    ),
  },
  money: { 'src/money.test.ts': MONEY_TEST },
  tests: ['node_modules/vitest/vitest.mjs', 'run'],
  others: { 'tsx starts the server': ['node_modules/tsx/dist/cli.mjs', 'src/index.ts', '--once'] },
}
