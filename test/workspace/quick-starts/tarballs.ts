import { packTo } from '../pack.ts'
import { manifest, packageNames } from '../tree.ts'

const folders = Object.fromEntries(packageNames().map(folder => [manifest(folder).name, folder]))

/** Whether a package is of this repository. */
export const isOwn = (name: string): boolean => name in folders

/** Packages of this repository with all that they depend on: npm does not have them yet. */
function family(names: readonly string[], found: Set<string> = new Set()): Set<string> {
  for (const name of names) {
    const folder = folders[name]
    if (folder === undefined || found.has(name)) continue
    found.add(name)
    family(Object.keys(manifest(folder).dependencies ?? {}), found)
  }
  return found
}

/** Returns a function that gives the tarballs of packages of this repository and of all that they depend on. Packs each once, into a directory. */
export function tarballsIn(directory: string): (names: readonly string[]) => string[] {
  const packed = new Map<string, string>()
  return names =>
    [...family(names)].map(name => {
      const tarball = packed.get(name) ?? packTo(directory, folders[name] as string)
      packed.set(name, tarball)
      return tarball
    })
}
