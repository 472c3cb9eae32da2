// Entry point of the process. Node 22 and later cache compiled code, which saves a third of the CPU time of a
// start. The cache is in the package's own folder, since whoever can write to it chooses the code that runs.
// Without write access nothing is cached.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const { enableCompileCache } = module as { readonly enableCompileCache?: (directory: string) => unknown }
enableCompileCache?.(fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url)))
const { serve } = await import('./composition/serve.ts')
const served = await serve(process.env, text => console.log(text))
if (!served.ok) {
  console.error(served.problem)
  process.exit(1)
}
