import { existsSync, readFileSync } from 'node:fs'

/** The built pages by name, as `browser/bundle.js` lists them. */
export interface Manifest {
  readonly pages: Readonly<
    Record<
      string,
      {
        /** The path of the HTML file, for `readBuilt`. */
        readonly document: string
        /** Names of files, each with a digest of its content. */
        readonly assets: Readonly<Record<string, string>>
      }
    >
  >
}

const BUILT = new URL('../../dist/browser/', import.meta.url)

/** Reads a file of the built pages. */
export function readBuilt(path: string): Buffer {
  return readFileSync(new URL(path, BUILT))
}

/** Reads the list of built pages. */
export function readManifest(): Manifest {
  if (!existsSync(new URL('manifest.json', BUILT)))
    throw new Error(
      'the pages for browsers are not built: run `npm run build`, or set HELPER_PAGE and DOCS_PAGE to off',
    )
  return JSON.parse(readBuilt('manifest.json').toString()) as Manifest
}
