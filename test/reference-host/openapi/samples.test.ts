import t from 'tap'
import { bearer, bootstrapUser, openTestHost } from '../../harness/host.ts'
import { inlined } from '../../harness/openapi.ts'
import { webToken } from '../harness/web-sign-in.ts'

interface Described {
  readonly deprecated?: boolean
  readonly security: readonly Readonly<Record<string, readonly string[]>>[]
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required?: boolean
    readonly example?: string
    readonly schema: { readonly enum?: readonly string[] }
  }[]
  readonly requestBody?: { readonly content: Record<string, { readonly example?: object }> }
}

const host = await openTestHost(t)
const { send } = host
const { body: document } = await send('/openapi.json')
const paths = inlined(document, document['paths']) as Record<string, Record<string, Described>>
const user = await bootstrapUser(send)

t.test('introduces the API, and groups its operations in an order with titles', async t => {
  t.match(
    (document['info'] as { description: string }).description,
    /## First call[^]*## Idempotency[^]*## Sandbox/,
  )
  const tags = document['tags'] as { name: string; 'x-displayName'?: string }[]
  t.match(tags[0], { name: 'auth', 'x-displayName': 'Sign-in' })
  t.same(
    tags.filter(tag => tag['x-displayName'] === undefined).map(({ name }) => name),
    [],
    'every group has a title',
  )
  t.ok(tags.some(({ name }) => name === 'sandbox'))
  const titles = Object.values(paths).flatMap(item => Object.values(item) as unknown as { summary: string }[])
  t.same(
    titles.filter(({ summary }) => summary.length > 48).map(({ summary }) => summary),
    [],
    'titles are short',
  )
})

t.test('takes every sample as it is printed: none is refused for its form', async t => {
  const credentials: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
    UserSessionBearer: async () => bearer(user.token),
    UserKey: async () => ({ 'x-user-key': user.key }),
    WebToken: async () => bearer(await webToken(send)),
  }
  const funded = {
    headers: { ...bearer(user.token), 'idempotency-key': 'play-money' },
    body: { amountCents: 1_000_000 },
  }
  t.equal((await send('/user/v1/deposits', funded)).status, 200)
  let sent = 0
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, described] of Object.entries(item)) {
      if (described.deprecated) continue
      const scheme = described.security.flatMap(each => Object.keys(each)).find(name => name in credentials)
      if (scheme === undefined && described.security.length > 0) continue
      const samples = described.parameters.filter(each => each.required)
      const valueOf = (name: string): string => {
        const found = samples.find(each => each.name === name)
        return found?.example ?? found?.schema.enum?.[0] ?? ''
      }
      const inPlace = (place: string) => samples.filter(each => each.in === place).map(({ name }) => name)
      const query = inPlace('query').map(name => `${name}=${encodeURIComponent(valueOf(name))}`)
      const target = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueOf(name))
      const headers = Object.fromEntries(inPlace('header').map(name => [name, valueOf(name)]))
      const body = described.requestBody?.content['application/json']?.example
      const response = await fetch(`${host.url}${target}${query.length > 0 ? `?${query.join('&')}` : ''}`, {
        method: method.toUpperCase(),
        headers: {
          ...headers,
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...(scheme === undefined ? {} : await credentials[scheme]?.()),
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
        redirect: 'manual',
      })
      const { status } = response
      const got = status < 400 ? {} : ((await response.json()) as Readonly<Record<string, unknown>>)
      if (status < 400) await response.arrayBuffer()
      sent += 1
      const formal = [400, 413, 415, 422].includes(status) && got['error'] === 'invalid_request'
      t.notOk(formal, `${method} ${path}: ${JSON.stringify(got).slice(0, 200)}`)
    }
  }
  t.ok(sent > 80, `${sent} samples`)
})
