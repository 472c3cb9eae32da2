// What the gate does with a response of Node, which an existing handler may write in any way.
import { IncomingMessage, ServerResponse, type OutgoingHttpHeaders } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import {
  addFields,
  connectionOf,
  fieldsByName,
  onSent,
  sendInstead,
  sendWire,
  setFields,
  writeHeadFields,
  writeWire,
} from '#packages/http/dist/bindings/node-response.js'

/** A response whose head is written to no connection. */
const response = (): ServerResponse => new ServerResponse(new IncomingMessage(new Socket()))

t.test('joins the values of a name, in any letter case, and keeps its first spelling', async t => {
  const fields = [
    ['A', '1'],
    ['b', '2'],
    ['a', '3'],
    ['A', '4'],
  ] as const
  t.same(
    [...fieldsByName(fields)],
    [
      ['A', ['1', '3', '4']],
      ['b', '2'],
    ],
  )
  const sent = response()
  setFields(sent, fields)
  t.strictSame({ ...sent.getHeaders() }, { a: ['1', '3', '4'], b: '2' })
})

t.test('reads the fields of a head in each form of writeHead', async t => {
  const pairs = [
    ['a', '1'],
    ['b', '2'],
  ]
  for (const [rest, fields] of [
    [[], []],
    [[undefined], []],
    [[null, { a: '1' }], [['a', '1']]],
    [['OK'], []],
    [[{}], []],
    [['OK', { a: '1', b: '2' }], pairs],
    [
      [{ a: ['1', '2'] }],
      [
        ['a', '1'],
        ['a', '2'],
      ],
    ],
    [[pairs], pairs],
    [[[['a', '1']]], [['a', '1']]],
    [[['a', '1', 'b', '2']], pairs],
    [['OK', ['a', '1']], [['a', '1']]],
    [[[]], []],
  ] as const)
    t.same(writeHeadFields(rest), fields, JSON.stringify(rest))
})

t.test('sends a response once', async t => {
  const sent = response()
  sendWire(sent, { status: 201, headers: [['X-A', '1']], body: 'one' })
  t.match(sent, { statusCode: 201, writableEnded: true, headersSent: true })
  sendWire(sent, { status: 500, headers: [['X-B', '2']], body: 'two' })
  t.equal(sent.statusCode, 201)
})

t.test('sends another response without the fields that describe the first one', async t => {
  const sent = response()
  for (const name of ['ETag', 'Content-Type', 'Content-Language', 'X-Kept', 'Contents'])
    sent.setHeader(name, 'a')
  sendInstead(sent, { status: 503, headers: [['Content-Type', 'b']], body: '' })
  t.equal(sent.statusCode, 503)
  t.strictSame({ ...sent.getHeaders() }, { 'content-type': 'b', 'x-kept': 'a', contents: 'a' })
})

t.test('a connection has ended if it closes before the response is complete', async t => {
  for (const readsBefore of [false, true]) {
    const sent = response()
    const connection = connectionOf(sent)
    const before = readsBefore ? connection.signal : undefined
    t.notOk(connection.ended)
    t.notOk(before?.aborted)
    sent.emit('close')
    t.ok(connection.ended)
    t.ok(connection.signal.aborted)
    if (before) t.equal(connection.signal, before)
  }
  const complete = response()
  const connection = connectionOf(complete)
  complete.end()
  complete.emit('close')
  t.notOk(connection.ended)
  t.notOk(connection.signal.aborted)
  t.equal(connection.signal, connection.signal)
})

const LINKS = [
  ['X-A', '1'],
  ['Link', '<old>'],
] as const

t.test('adds fields at once, and links beside those that the response has', async t => {
  const sent = response()
  sent.setHeader('Link', '<own>')
  addFields(sent, LINKS)
  t.strictSame({ ...sent.getHeaders() }, { link: ['<own>', '<old>'], 'x-a': '1' })
  addFields(sent, LINKS)
  t.same(sent.getHeader('link'), ['<own>', '<old>'], 'once')
  const plain = response()
  const { writeHead } = plain
  addFields(plain, [['X-A', '1']])
  t.equal(plain.getHeader('x-a'), '1')
  t.equal(plain.writeHead, writeHead, 'nothing is added again without links')
})

t.test(
  'adds the fields that are missing when the head is written, and nothing to one that was sent',
  async t => {
    for (const [rest, message] of [
      [[{ Link: '<own>', 'X-B': '2' }], 'Created'],
      [['Done', { Link: '<own>', 'X-B': '2' }], 'Done'],
    ] as const) {
      const sent = response()
      addFields(sent, LINKS)
      sent.removeHeader('x-a')
      sent.writeHead(201, ...(rest as unknown as [OutgoingHttpHeaders]))
      t.match(sent, { statusCode: 201, statusMessage: message, headersSent: true })
      t.strictSame({ ...sent.getHeaders() }, { link: ['<own>', '<old>'], 'x-a': '1', 'x-b': '2' })
      t.throws(() => sent.writeHead(202), { code: 'ERR_HTTP_HEADERS_SENT' })
      addFields(sent, [['X-C', '3']])
      t.notOk(sent.hasHeader('x-c'))
    }
  },
)

t.test('writes a whole response with its length, and for HEAD without its body', async t => {
  const whole = (method: string, wire: Parameters<typeof writeWire>[2]): string[] => {
    const request = new IncomingMessage(new Socket())
    request.method = method
    const sent = new ServerResponse(request)
    const chunks: string[] = []
    const socket = new Socket()
    socket.write = (chunk: Uint8Array | string): boolean => chunks.push(String(chunk)) > 0
    sent.assignSocket(socket)
    sent.sendDate = false
    writeWire({ method }, sent, wire)
    return chunks.join('').split('\r\n')
  }
  const headers = [
    ['Link', '<a>'],
    ['Content-Type', 'text/plain'],
    ['content-length', '99'],
    ['Link', '<b>'],
  ] as const
  const links = ['Link: <a>', 'Link: <b>']
  const typed = ['Link: <a>', 'Content-Type: text/plain', 'Link: <b>']
  const last = ['Connection: close', '', '']
  const keep = (lines: string[]): string[] => lines.filter(line => !/^(?:Connection|Keep-Alive):/.test(line))
  t.same(keep(whole('GET', { status: 200, headers, body: 'é' })), [
    'HTTP/1.1 200 OK',
    ...typed,
    'Content-Length: 2',
    '',
    'é',
  ])
  t.same(keep(whole('HEAD', { status: 200, headers, body: 'é' })), [
    'HTTP/1.1 200 OK',
    ...typed,
    'Content-Length: 2',
    ...last.slice(1),
  ])
  t.same(keep(whole('GET', { status: 404, headers, body: '' })), [
    'HTTP/1.1 404 Not Found',
    ...links,
    'Content-Length: 0',
    ...last.slice(1),
  ])
  for (const status of [204, 304])
    t.notMatch(whole('GET', { status, headers, body: '' }).join('\n'), /Content-|Transfer-/, String(status))
})

t.test('writes nothing after a response that was sent', async t => {
  const sent = response()
  sent.writeHead(201).end()
  writeWire({ method: 'GET' }, sent, { status: 200, headers: [], body: 'late' })
  t.equal(sent.statusCode, 201)
})

t.test('reports 101 for an upgrade of the connection, unless a response was written to it', async t => {
  for (const [upgrade, status, reported] of [
    [false, undefined, 200],
    [false, 409, 409],
    [true, undefined, 101],
    [true, 409, 409],
  ] as const) {
    const sent = response()
    const socket = new Socket()
    const statuses: number[] = []
    onSent({ upgrade, socket }, sent, { ended: false } as never, each => void statuses.push(each))
    if (status !== undefined) sent.writeHead(status)
    t.same(statuses, [], 'not before the connection has ended')
    const ends = upgrade ? socket : sent
    ends.emit('close')
    t.same(statuses, [reported])
  }
})

t.test('reports a response at once if the client has disconnected already', async t => {
  const statuses: number[] = []
  onSent(
    { upgrade: false, socket: new Socket() },
    response(),
    { ended: true } as never,
    each => void statuses.push(each),
  )
  t.same(statuses, [200])
})
