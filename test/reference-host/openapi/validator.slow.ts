import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { startTestHost } from '../../harness/host.ts'

t.test('is valid OpenAPI 3.1 by an independent validator', async t => {
  const host = await startTestHost()
  t.teardown(() => host.close())
  const { body } = await host.send('/openapi.json')
  const result = await new Validator().validate(structuredClone(body))
  t.same(result, { valid: true })
  t.match(body, { openapi: '3.1.0', info: { version: '1.0.0', title: 'Gatewright Sandbox' } })
})
