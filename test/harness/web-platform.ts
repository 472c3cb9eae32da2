import { once } from 'node:events'
import type { Test } from 'tap'
import { startOutput } from './child.ts'

/**
 * Runs compiled test files a second time, each in a process of its own that resolves `#platform/*` to the modules for runtimes
 * without `node:crypto`. Export conditions are decided when a module is loaded, so the same process cannot have both.
 */
export async function passOnTheWebPlatform(t: Test, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const { child, output } = startOutput(`build/test/${file}.test.js`, ['--conditions=deno'], {
      GATEWRIGHT_PLATFORM: 'web',
    })
    const [code] = await once(child, 'close')
    t.equal(code, 0, code === 0 ? file : `${file}\n${output()}`)
  }
}
