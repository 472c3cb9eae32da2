// What handlers of a real server of Next throw to end early, on its Node and on its Edge runtime.
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../harness/services.ts'
import { temporaryFolder } from '../harness/files.ts'
import { serving } from '../harness/serving.ts'
import { installInto, pinned } from '../workspace/empty-project.ts'
import { NEXT_PACKAGES, startNext } from '../workspace/quick-starts/next.ts'
import { provider } from '../workspace/quick-starts/provider.ts'
import { tarballsIn } from '../workspace/quick-starts/tarballs.ts'

const directory = temporaryFolder(t)
const { url: issuer, sign } = await provider(t)

const RUNTIMES = ['nodejs', 'edge'] as const
const PLACES = ['write', 'protectWrite'] as const

/** A route of each function that mounts a handler. Its handlers end as the request says; `PUT` returns how many have run. */
const routeOf = (runtime: string, place: string): string => `
import { nothingHappened } from 'gatewright'
import { gatewright, memoryStore } from 'gatewright/next'
import { cookies } from 'next/headers'
import { z } from 'zod'
import { forbidden, notFound, permanentRedirect, redirect, unauthorized } from 'next/navigation'

export const runtime = '${runtime}'
const gw = gatewright({ issuer: '${issuer}', audience: 'https://api.example', store: memoryStore(), peer: 'none' })
let runs = 0

async function end(how: string | null): Promise<void> {
  runs++
  if (how === 'redirect') redirect('/paid?a=1;b=2')
  if (how === 'redirect elsewhere') redirect('https://pay.example/sessions/1')
  if (how === 'permanentRedirect') permanentRedirect('/paid')
  if (how === 'redirect with a cookie') {
    ;(await cookies()).set('seen', 'yes')
    redirect('/paid')
  }
  if (how === 'notFound') notFound()
  if (how === 'forbidden') forbidden()
  if (how === 'unauthorized') unauthorized()
  if (how === 'nothing happened') throw nothingHappened(Object.assign(new Error('declined'), { status: 402 }))
  if (how === 'an error') throw new Error('broken')
}
const READ = { scope: 'payments.read', query: z.object({ how: z.string() }) }
const WRITE = { scope: 'payments.write' }
const howOf = (request: Request): string | null => new URL(request.url).searchParams.get('how')
${
  place === 'write'
    ? `
export const GET = gw.read('payments.list', READ, async ({ query }) => {
  await end(query.how)
  return { status: 200, body: { runs } }
})
export const POST = gw.write('payments.create', { ...WRITE, body: z.object({ how: z.string() }) }, async ({ body }) => {
  await end(body.how)
  return { status: 201, body: { runs } }
})`
    : `
export const GET = gw.protectRead('payments.list', READ, async request => {
  await end(howOf(request))
  return Response.json({ runs })
})
export const POST = gw.protectWrite('payments.create', WRITE, async request => {
  const { how } = await request.json()
  await end(how)
  return Response.json({ runs }, { status: 201 })
})`
}
export const PUT = () => Response.json({ runs })
`

interface End {
  readonly status: number
  /** The status of a repeat of the write, and how often the handler has run then. */
  readonly again: number
  readonly runs: number
  readonly location?: RegExp
}
const ENDS: Readonly<Record<string, End>> = {
  returned: { status: 201, again: 201, runs: 1 },
  redirect: { status: 307, again: 307, runs: 1, location: /\/paid\?a=1;b=2$/ },
  'redirect elsewhere': {
    status: 307,
    again: 307,
    runs: 1,
    location: /^https:\/\/pay\.example\/sessions\/1$/,
  },
  'redirect with a cookie': { status: 307, again: 307, runs: 1, location: /\/paid$/ },
  permanentRedirect: { status: 308, again: 308, runs: 1, location: /\/paid$/ },
  // As a returned 404, it is final: the resource is not there.
  notFound: { status: 404, again: 404, runs: 1 },
  forbidden: { status: 403, again: 403, runs: 2 },
  unauthorized: { status: 401, again: 401, runs: 2 },
  'nothing happened': { status: 402, again: 402, runs: 2 },
  'an error': { status: 500, again: 503, runs: 1 },
}

const project = join(directory, 'project')
installInto(project, [...NEXT_PACKAGES, pinned('zod') as string, ...tarballsIn(directory)(['gatewright'])])
const port = await freePort()
const files = RUNTIMES.flatMap(runtime =>
  PLACES.map(place => [`app/${runtime}/${place}/route.ts`, routeOf(runtime, place)] as const),
)
const child = startNext(
  project,
  {
    ...Object.fromEntries(files),
    // `forbidden` and `unauthorized` exist only with this setting.
    'next.config.mjs': 'export default { experimental: { authInterrupts: true } }',
  },
  port,
)
t.teardown(() => child.kill('SIGKILL'))
const url = `http://127.0.0.1:${port}`
await serving(`${url}/none`, child)
const claims = { iss: issuer, aud: 'https://api.example', scope: 'payments.read payments.write' }
const authorization = `Bearer ${await sign('RS256', claims)}`

t.comment('measured runtime | function | thrown | first | repeat | runs')
for (const runtime of RUNTIMES)
  for (const place of PLACES) {
    const route = `${url}/${runtime}/${place}`
    const runsOf = async (): Promise<number> =>
      ((await (await fetch(route, { method: 'PUT' })).json()) as { runs: number }).runs

    t.test(
      `Next, ${runtime}, ${place}: what a handler throws is sent, and stored or frees the key`,
      async t => {
        for (const [how, { status, again, runs, location }] of Object.entries(ENDS)) {
          const before = await runsOf()
          const send = (): Promise<Response> =>
            fetch(route, {
              method: 'POST',
              redirect: 'manual',
              headers: {
                authorization,
                'content-type': 'application/json',
                'idempotency-key': `key-of-${how.replaceAll(' ', '-')}`,
              },
              body: JSON.stringify({ how }),
            })
          const [first, repeat] = [await send(), await send()]
          // An error of an existing handler is Next's to respond to.
          const isNexts = place === 'protectWrite' && how === 'nothing happened'
          t.equal(first.status, isNexts ? 500 : status, how)
          t.equal(repeat.status, isNexts ? 500 : again, how)
          const ran = (await runsOf()) - before
          t.equal(ran, runs, how)
          t.equal(first.headers.get('idempotency-replayed'), null, how)
          t.equal(repeat.headers.get('idempotency-replayed'), runs === 1 && status < 500 ? 'true' : null, how)
          for (const response of [first, repeat])
            t.match(response.headers.get('location') ?? '', location ?? /^$/, how)
          t.comment(`measured ${runtime} | ${place} | ${how} | ${first.status} | ${repeat.status} | ${ran}`)
        }
      },
    )

    t.test(`Next, ${runtime}: what the handler of a read throws is sent, next to ${place}`, async t => {
      for (const [how, { status, location }] of Object.entries(ENDS)) {
        if (how === 'nothing happened') continue
        const read = await fetch(`${route}?how=${encodeURIComponent(how)}`, {
          redirect: 'manual',
          headers: { authorization },
        })
        t.equal(read.status, how === 'returned' ? 200 : status, how)
        t.match(read.headers.get('location') ?? '', location ?? /^$/, how)
      }
    })
  }
