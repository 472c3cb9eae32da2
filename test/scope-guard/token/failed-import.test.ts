import t from 'tap'
import { runNode } from '../../harness/node.ts'

/** Fails when jose's key sets are first loaded, as a process without free file descriptors does. */
const HOOKS = `
let failed = false
export async function resolve(specifier, context, next) {
  if (specifier !== 'jose/jwks/remote' || failed) return next(specifier, context)
  failed = true
  throw new Error('EMFILE: too many open files')
}`

const SCRIPT = `
import { createServer } from 'node:http'
import { register } from 'node:module'
import { remoteKeys } from '@gatewright/scope-guard'
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}))
const server = createServer((_, response) => response.end('{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}'))
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
const keys = remoteKeys(new URL('http://127.0.0.1:' + server.address().port))
console.log(await keys('k').catch(error => error.message))
console.log((await keys('k'))?.kid)
server.closeAllConnections()
server.close()
`

t.test('loads the code for remote keys again after it could not be loaded', async t => {
  const { code, output } = await runNode(['--input-type=module', '-e', SCRIPT])
  t.equal(output, 'EMFILE: too many open files\nk\n')
  t.equal(code, 0)
})
