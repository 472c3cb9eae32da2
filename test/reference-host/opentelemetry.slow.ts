// A host gives its decisions to the OpenTelemetry SDK that was loaded before it.
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { request, spawnHost } from '../harness/host.ts'
import { PROGRAMS } from '../harness/programs.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', LOG_FORMAT: 'json' }
const SDK = fileURLToPath(new URL('./opentelemetry.child.js', import.meta.url))
const SPAN_ID = 'b7ad6b7169203331'
const TRACEPARENT = `00-0af7651916cd43dd8448eb211c80319c-${SPAN_ID}-01`

t.test('makes spans in the trace of the client if OTEL_EXPORTER_OTLP_ENDPOINT is set', async t => {
  const host = await spawnHost(t.testdir(), ENDPOINT, ['--import', SDK, PROGRAMS.host])
  await request(host.url, '/user/v1/keys', { headers: { traceparent: TRACEPARENT } })
  await host.stop('SIGTERM')
  const line =
    host
      .output()
      .split('\n')
      .find(each => each.startsWith('{"span":')) ?? ''
  t.match(JSON.parse(line), {
    span: 'keys.list',
    parent: SPAN_ID,
    attributes: { 'gatewright.code': 'unauthorized', 'http.response.status_code': 401 },
  })
  t.notMatch(host.output(), 'no OpenTelemetry SDK')
})

t.test('says at its start that no SDK takes what it reports', async t => {
  const host = await spawnHost(t.testdir(), ENDPOINT)
  t.teardown(() => host.stop('SIGTERM'))
  t.match(host.output(), 'no OpenTelemetry SDK is loaded')
  t.equal((await request(host.url, '/healthz')).status, 200)
})
