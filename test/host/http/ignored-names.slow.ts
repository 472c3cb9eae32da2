import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { openTestHost } from '../../harness/host.ts'
import { runShell, shellLines } from '../../reference-host/harness/pages/pages.ts'

// Runs every line of docs/api.md, which has one for each operation, through a front that adds an unknown member and an
// unknown query parameter to each request.

const PARAMETER = 'unheardOfParameter'
const MEMBER = 'unheardOfMember'
interface OperationDescription {
  readonly operationId: string
  readonly description?: string
  readonly responses: Readonly<Record<string, object>>
}
/** Legacy and further paths of an operation have a number behind its name. */
const nameOf = ({ operationId }: OperationDescription): string => operationId.replace(/_\d+$/, '')

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

const host = await openTestHost(t)
const description = (await host.send('/openapi.json')).body
const paths = description['paths'] as Record<string, Record<string, OperationDescription>>
const routes = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    method: method.toUpperCase(),
    // A path without parameters comes before one with them.
    rank: path.split('{').length,
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    name: nameOf(operation),
  })),
)
/** How the description of an operation says that it denies unknown names. */
const DENIES_UNKNOWN = 'Refuses a member of the body and a query parameter that it does not know'
/** Operations that are described as denying unknown names. The others list them. */
const STRICT = Object.values(paths)
  .flatMap(item => Object.values(item))
  .flatMap(each => (each.description?.includes(DENIES_UNKNOWN) ? [nameOf(each)] : []))
const operationOf = ({ method, path }: Pick<Sent, 'method' | 'path'>): string | undefined =>
  routes
    .filter(route => route.method === method && route.pattern.test(path.split('?')[0] as string))
    .toSorted((one, other) => one.rank - other.rank)[0]?.name

const responded = new Set<string>()
const problems: string[] = []

/** Adds an unknown member to a body, where there is one, and an unknown query parameter. */
function withUnknown({ path, body, ...rest }: Sent): Sent {
  const fields = body === '' ? undefined : (JSON.parse(body) as object)
  const longer = fields ? JSON.stringify({ ...fields, [MEMBER]: 1 }) : ''
  return { ...rest, path: `${path}${path.includes('?') ? '&' : '?'}${PARAMETER}=1`, body: longer }
}

/** Whether a request reads something of a surface: reads deny unknown query parameters. */
const isRead = ({ method, path }: Sent): boolean =>
  method === 'GET' && /^\/(?:(?:user|consumer|partner)\/v1|identity\/[a-z]+-api-keys)(?:\/|$|\?)/.test(path)

const forward = ({ method, path, headers, body }: Sent): Promise<Response> =>
  fetch(host.url + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body === '' ? {} : { body }),
  })

/** Notes what an operation did with unknown names. Only successes in the envelope list them. */
function note(name: string, status: number, text: string, hasBody: boolean): void {
  if (status >= 300) return
  const json = text.startsWith('{') ? (JSON.parse(text) as { ok?: boolean; ignored?: string[] }) : {}
  if (json.ok !== true) return
  const expected = [...(hasBody ? [MEMBER] : []), PARAMETER]
  const { ignored = [] } = json
  // The page sends some members of its own that an operation does not read.
  const added = ignored.filter(each => each === MEMBER || each === PARAMETER)
  if (JSON.stringify(added) !== JSON.stringify(expected))
    problems.push(`${name} listed ${ignored.join()}, not ${expected.join()}`)
  responded.add(name)
}

async function sentBy(request: IncomingMessage): Promise<Sent> {
  const { method = '', url = '', headers } = request
  const { host: _host, connection: _connection, 'content-length': _length, ...others } = headers
  const body = (await buffer(request)).toString()
  return { method, path: url, headers: others as Record<string, string>, body }
}

const front = createServer((request, response) => {
  const serve = async (): Promise<void> => {
    const sent = await sentBy(request)
    const name = operationOf(sent) ?? 'none'
    const strict = STRICT.includes(name) || isRead(sent)
    const first = await forward(withUnknown(sent))
    if (strict) {
      const { error, field } = (await first.json()) as { error?: string; field?: string }
      if (first.status !== 400 || error !== 'invalid_request' || ![MEMBER, PARAMETER].includes(field ?? ''))
        problems.push(`${name} returned ${first.status} ${error} ${field} to unknown names`)
      responded.add(name)
    }
    const final = strict ? await forward(sent) : first
    const text = await final.text()
    if (!strict) note(name, final.status, text, sent.body !== '')
    for (const [field, value] of final.headers)
      if (!['content-length', 'content-encoding', 'transfer-encoding', 'connection'].includes(field))
        response.setHeader(field, value)
    response.writeHead(final.status).end(text)
  }
  serve().catch((error: unknown) => response.writeHead(599).end(String(error)))
})
await new Promise<void>(resolve => front.listen(0, '127.0.0.1', resolve))
t.teardown(() => front.close())

t.test('every operation denies unknown names, or accepts and lists them', async t => {
  const { code, output } = await runShell(shellLines('docs/api.md'), {
    HOST: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    PARTNER_KEY: host.partnerKey,
  })
  t.equal(code, 0, output.slice(-600))
  t.same(problems, [])
  const enveloped = Object.values(paths)
    .flatMap(item => Object.values(item))
    // Redirects, documents of AuthZEN and the host's own have no envelope.
    .filter(({ operationId, responses }) => responses['200'] && !/^(?:system|access)_/.test(operationId))
    .map(nameOf)
  t.same(
    [...new Set(enveloped)].filter(name => !responded.has(name)),
    [],
    'every operation has responded',
  )
})
