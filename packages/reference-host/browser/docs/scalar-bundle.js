// Finds the built bundle of Scalar. The maker's own package of it has 243 MB of dependencies, which the bundle contains already;
// its Fastify plugin carries the same bundle as a string, which is read without running the plugin: the dependencies of the
// plugin are not installed (`overrides` in package.json), because they refuse Node.js 20.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'

const PLUGIN = fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference'))

/** The text of the bundle, which sets `window.Scalar`. */
export function scalarBundle() {
  const literal = /^var standalone_default = ("(?:[^"\\\n]|\\.)*");$/m.exec(readFileSync(PLUGIN, 'utf8'))?.[1]
  const text = literal === undefined ? '' : String(runInNewContext(literal))
  if (!text.includes('createApiReference'))
    throw new Error('@scalar/fastify-api-reference has no bundle in its source any more: look where it is')
  return text.replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n')
}
