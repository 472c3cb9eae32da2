import t from 'tap'
import { openTestHost } from '../harness/host.ts'
import { runShell, shellLines } from './harness/pages/pages.ts'

const host = await openTestHost(t)
const fences = shellLines('docs/api.md')

t.test('every line of docs/api.md works as printed, in order', async t => {
  const { code, output } = await runShell(fences, { HOST: host.url, PARTNER_KEY: host.partnerKey })
  t.equal(code, 0, output.slice(-600))
  t.match(output, /"payin":[^]*"cards":\[/)
})

t.test('docs/api.md has a line for every operation', async t => {
  const { body } = await host.send('/openapi.json')
  const paths = body['paths'] as Record<string, Record<string, { deprecated?: boolean }>>
  const script = fences.join('\n')
  const missing = Object.entries(paths)
    .filter(([path]) => !path.startsWith('/identity/') && path !== '/users/resolve')
    .flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([, { deprecated }]) => !deprecated)
        .filter(([method]) => !named(script, method.toUpperCase(), path))
        .map(([method]) => `${method} ${path}`),
    )
  t.same(missing, [])
})

/** Whether a curl line calls a method on a path; curl posts when it sends data. */
function named(script: string, method: string, path: string): boolean {
  const target = path.replaceAll(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '\\$\\w+')
  return script.split('\n').some(line => {
    if (!new RegExp(`\\$HOST${target}["?]`).test(line)) return false
    const explicit = /-X (\w+)/.exec(line)?.[1]
    return method === (explicit ?? (/ -d /.test(line) ? 'POST' : 'GET'))
  })
}
