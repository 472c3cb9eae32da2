import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const FOLDER = resolve('test/tools')

/**
 * Installs the packages of a folder as its lockfile says, unless that was done before. Those of `test/tools` are the peers that benches
 * compare with and the tools that look at tarballs: only those who run them pay for them.
 */
export function installTools(folder: string = FOLDER): void {
  const lock = readFileSync(join(folder, 'package-lock.json'), 'utf8')
  const installed = join(folder, 'node_modules/.installed-lock.json')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return
  const install = [
    'ci',
    '--prefix',
    folder,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  for (let attempt = 1; ; attempt++) {
    const { status } = spawnSync('npm', install, { stdio: ['ignore', 'ignore', 'inherit'] })
    if (status === 0) break
    if (attempt === 2)
      throw new Error(`npm ci in ${folder} failed twice: tests and benches need its packages`)
  }
  writeFileSync(installed, lock)
}

/** Imports a package of `test/tools`. `T` is the part of it that the caller uses. */
export async function tool<T>(name: string): Promise<T> {
  const { load } = (await import(pathToFileURL(`${FOLDER}/load.js`).href)) as {
    load(name: string): Promise<unknown>
  }
  return (await load(name)) as T
}
