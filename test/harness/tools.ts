import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const FOLDER = resolve('test/tools')
const LOCK = `${FOLDER}/package-lock.json`
const INSTALLED = `${FOLDER}/node_modules/.installed-lock.json`

/**
 * Installs the packages of `test/tools` as their lockfile says, unless that was done before. They are the peers that benches
 * compare with and the tools that look at tarballs: only those who run them pay for them.
 */
export function installTools(): void {
  const lock = readFileSync(LOCK, 'utf8')
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === lock) return
  const install = ['ci', '--prefix', FOLDER, '--ignore-scripts', '--no-audit', '--no-fund']
  for (let attempt = 1; ; attempt++) {
    const { status } = spawnSync('npm', install, { stdio: ['ignore', 'ignore', 'inherit'] })
    if (status === 0) break
    if (attempt === 2)
      throw new Error('npm ci in test/tools failed twice: benches and packaging need its packages')
  }
  writeFileSync(INSTALLED, lock)
}

/** Imports a package of `test/tools`. `T` is the part of it that the caller uses. */
export async function tool<T>(name: string): Promise<T> {
  const { load } = (await import(pathToFileURL(`${FOLDER}/load.js`).href)) as {
    load(name: string): Promise<unknown>
  }
  return (await load(name)) as T
}
