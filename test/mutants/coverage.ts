import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Which characters of which modules a test file ran: 1 for each that was reached. */
export type Coverage = ReadonlyMap<string, Uint8Array>

/** What Node writes for each process with `NODE_V8_COVERAGE`. */
interface V8Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly ranges: readonly {
        readonly startOffset: number
        readonly endOffset: number
        readonly count: number
      }[]
    }[]
  }[]
}

/** Runs something that writes the coverage of its processes to a folder, and reads that of modules below `root`. */
export async function coverageOf(root: string, run: (directory: string) => Promise<void>): Promise<Coverage> {
  const directory = mkdtempSync(join(tmpdir(), 'coverage-'))
  try {
    await run(directory)
    const covered = new Map<string, Uint8Array>()
    for (const name of readdirSync(directory)) {
      const { result } = JSON.parse(readFileSync(join(directory, name), 'utf8')) as V8Coverage
      for (const { url, functions } of result) {
        if (!url.startsWith(`file://${root}/packages/`)) continue
        const file = fileURLToPath(url).slice(root.length + 1)
        // The outer ranges first: an inner one says more exactly what was reached.
        const ranges = functions
          .flatMap(({ ranges }) => ranges)
          .sort((one, other) => one.startOffset - other.startOffset || other.endOffset - one.endOffset)
        const length = Math.max(0, ...ranges.map(({ endOffset }) => endOffset))
        const reached = new Uint8Array(length)
        for (const { startOffset, endOffset, count } of ranges)
          reached.fill(count > 0 ? 1 : 0, startOffset, endOffset)
        const known = covered.get(file)
        covered.set(file, known ? reached.map((value, index) => value || (known[index] ?? 0)) : reached)
      }
    }
    return covered
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
