// The licenses of the libraries whose code is in the bundles: they ask for their text wherever the code goes.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The folder of the package that a file belongs to; undefined for a file of this repository.
 * @param {string} path
 */
export const packageOf = path => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(path)?.[0]

/**
 * The name, version and license text of each package. Throws for a package without a license text.
 * @param {readonly string[]} folders
 */
export function noticesOf(folders) {
  const notices = folders.map(folder => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find(entry => /^licen[cs]e(\.(md|txt))?$/i.test(entry))
    if (!file) throw new Error(`${name} ${version} has no license text to put into third-party-notices.txt`)
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  })
  return notices.join(`\n${'-'.repeat(80)}\n\n`)
}
