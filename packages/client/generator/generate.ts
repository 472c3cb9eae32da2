// Writes the generated sources of the client. `npm run build` runs it between the host and the client.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const PACKAGES = 'packages'
const FOLDER = join(PACKAGES, 'client/src/generated')

/** When the packages that the sources are made from were built, in epoch ms. */
function builtAt(): number {
  const records = readdirSync(PACKAGES)
    .filter(name => name !== 'client')
    .map(name => join(PACKAGES, name, 'dist/.tsbuildinfo'))
  return Math.max(...records.filter(path => existsSync(path)).map(path => statSync(path).mtimeMs))
}

/** Starts a sandbox host in a temporary folder and reads its description for generators of clients. */
async function describeHost(): Promise<object> {
  const { readConfig, startHost } = await import('@gatewright/reference-host')
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-client-'))
  try {
    const config = readConfig({ DATA_DIR: folder, PORT: '0', HELPER_PAGE: 'off', DOCS_PAGE: 'off' })
    if (!config.ok) throw new Error(config.problems.join('\n'))
    const host = await startHost(config.value, { observe: () => {}, report: () => {}, repeatChores: false })
    try {
      const response = await fetch(`${host.url}/openapi.json?for=sdk`)
      return (await response.json()) as object
    } finally {
      await host.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const last = join(FOLDER, 'codes.ts')
if (!existsSync(last) || statSync(last).mtimeMs < builtAt()) {
  const errors = pathToFileURL(resolve(PACKAGES, 'reference-host/dist/product/errors.js')).href
  const { errorCodes } = (await import(
    errors
  )) as typeof import('../../reference-host/dist/product/errors.js')
  const { clientSources } = await import('./sources.ts')
  const sources = clientSources(await describeHost(), errorCodes)
  mkdirSync(FOLDER, { recursive: true })
  for (const [name, text] of Object.entries(sources)) writeFileSync(join(FOLDER, name), text)
}
