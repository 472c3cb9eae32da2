// The process. Node 22 and later keep compiled code, which saves a third of the CPU of a start. The folder is the package's
// own: compiled code in one that others may write to would be theirs to choose. Where it cannot be written, nothing is kept.
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const { enableCompileCache } = module as { readonly enableCompileCache?: (directory: string) => unknown }
enableCompileCache?.(fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)))
await import('./serve.ts')
