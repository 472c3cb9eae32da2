import t from 'tap'
import * as internals from '../../../harness/internals.ts'
import { startReceiver } from '../../harness/webhooks.ts'

const { isPublicAddress } = await import('@gatewright/kernel/internal/address')
const { validateEndpointUrl, webhookSender } = internals
const never = new AbortController().signal
const attempt = (url: string) => ({ url, headers: { 'webhook-id': 'evt_1' }, body: '{}' })

t.test('a name that resolves to a refused address between two attempts is refused', async t => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  receiver.answer = (_, res) => void res.writeHead(204, { connection: 'close' }).end()
  let address = '127.0.0.1'
  const send = webhookSender({
    isAllowed: each => each === '127.0.0.1',
    resolve: (_name, _options, callback) => callback(null, [{ address, family: 4 }]),
  })
  const { port } = new URL(receiver.url)
  const url = `http://shop.example:${port}/hook`
  t.match(await send(attempt(url), never), { ok: true, result: '204' })
  address = '127.0.0.2'
  t.match(await send(attempt(url), never), { ok: false, result: 'private_address' })
  t.equal(receiver.received.length, 1)
})

t.test('one refused address among several refuses the name', async t => {
  const addresses = [
    { address: '8.8.8.8', family: 4 },
    { address: '::ffff:10.0.0.1', family: 6 },
  ]
  const send = webhookSender({ resolve: (_name, _options, callback) => callback(null, addresses) })
  t.match(await send(attempt('https://shop.example/'), never), { result: 'private_address' })
})

t.test('without an exception no local or private address is connected to', async t => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const { port } = new URL(receiver.url)
  const send = webhookSender()
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[::7f00:1]',
    '[0:0:0:0:0:0:127.0.0.1]',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1.',
  ])
    t.match(
      await send(attempt(`http://${host}:${port}/`), never),
      { ok: false, result: 'private_address' },
      host,
    )
  t.equal(receiver.received.length, 0)
})

t.test('knows which addresses are public', async t => {
  for (const address of ['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])
    t.ok(isPublicAddress(address), address)
  for (const address of [
    '10.0.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '198.18.0.1',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '240.0.0.1',
    '::',
    '::1',
    '::127.0.0.1',
    'fe80::1',
    'fd00::1',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '64:ff9b::7f00:1',
    'shop.example',
    '',
  ])
    t.notOk(isPublicAddress(address), address)
})

t.test('ends an attempt after its time, and reports a status although the body does not end', async t => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const anywhere = { isAllowed: () => true }
  receiver.answer = () => {}
  const impatient = webhookSender({ ...anywhere, timeoutMs: 50 })
  t.match(await impatient(attempt(receiver.url), never), { ok: false, result: 'timeout' })
  const send = webhookSender({ ...anywhere, timeoutMs: 2000 })
  receiver.answer = (_, res) => void res.writeHead(200).write('and')
  t.match(await send(attempt(receiver.url), never), { ok: true, result: '200' })
  receiver.answer = (_, res) => void res.writeHead(200).end('x'.repeat(1_000_000))
  t.match(await webhookSender({ isAllowed: () => true })(attempt(receiver.url), never), {
    ok: true,
    result: '200',
  })
})

t.test('reads Retry-After as seconds and as a date, at most a day', async t => {
  const receiver = await startReceiver()
  t.teardown(() => receiver.close())
  const send = webhookSender({ isAllowed: () => true })
  for (const [value, least, most] of [
    ['120', 120_000, 120_000],
    ['999999999', 86_400_000, 86_400_000],
    [new Date(Date.now() + 60_000).toUTCString(), 50_000, 60_000],
    [new Date(0).toUTCString(), 0, 0],
  ] as const) {
    receiver.answer = (_, res) => void res.writeHead(429, { 'retry-after': value }).end()
    const { retryAfterMs = -1 } = await send(attempt(receiver.url), never)
    t.ok(retryAfterMs >= least && retryAfterMs <= most, `${value}: ${retryAfterMs}`)
  }
  receiver.answer = (_, res) => void res.writeHead(429, { 'retry-after': 'soon' }).end()
  t.notOk('retryAfterMs' in (await send(attempt(receiver.url), never)))
})

t.test('says why there was no response, and never shows the URL', async t => {
  const receiver = await startReceiver()
  await receiver.close()
  const send = webhookSender({ isAllowed: () => true })
  t.same(await send(attempt(`${receiver.url}?token=secret`), never), { ok: false, result: 'ECONNREFUSED' })
})

t.test('accepts https, and on a sandbox also http and local addresses', async t => {
  for (const url of ['https://shop.example/hook?x=1', 'https://8.8.8.8/', 'https://[2606:4700::1]/'])
    for (const environment of ['sandbox', 'live'] as const)
      t.equal(validateEndpointUrl(url, environment), undefined, url)
  for (const url of [
    'http://shop.example/',
    'https://10.0.0.1/',
    'https://[::1]/',
    'https://[::127.0.0.1]/',
    'https://[::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://2130706433/',
    'https://0x7f.1/',
    'http://127.0.0.1:3000/',
  ]) {
    t.equal(validateEndpointUrl(url, 'sandbox'), undefined, url)
    t.match(validateEndpointUrl(url, 'live'), /^URL must/, url)
  }
  for (const url of [
    'shop',
    'ftp://shop.example/',
    'https://me:pw@shop.example/',
    'https://a/#b',
    `https://a/${'x'.repeat(500)}`,
  ])
    t.match(validateEndpointUrl(url, 'sandbox'), /^URL must/, url)
})
