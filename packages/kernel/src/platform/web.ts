// The functions of the runtime that the packages use, built from what all runtimes have. See `node.ts`.
import { sha256 as digest } from '@noble/hashes/sha2.js'

const encoder = new TextEncoder()
/** Globals that only some runtimes have. */
const runtime = globalThis as {
  readonly navigator?: { readonly userAgent?: string }
  readonly setImmediate: (run: () => void) => unknown
  readonly process?: {
    readonly env?: Readonly<Record<string, string>>
    nextTick(run: () => void): void
  }
  readonly Deno?: unknown
}

/** Computes SHA-256, of the UTF-8 of a text, in base64url. Web Crypto's digest is asynchronous, and decisions here are not. */
export function sha256(data: string | Uint8Array): string {
  const bytes = digest(typeof data === 'string' ? encoder.encode(data) : data)
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Makes an array of bytes. */
export function allocateBytes(length: number): Uint8Array {
  return new Uint8Array(length)
}

/** Writes the UTF-8 of a text to the start of an array of bytes, and returns how many bytes it took. */
export function writeUtf8(bytes: Uint8Array, text: string): number {
  return encoder.encodeInto(text, bytes).written
}

/** Returns the length of a text in UTF-8. */
export function utf8Length(text: string): number {
  return encoder.encode(text).length
}

/** Whether `setImmediate` may work: not on Workers, whose timers end with the request that set them. */
let hasTurns = runtime.navigator?.userAgent !== 'Cloudflare-Workers'

/**
 * Runs a function in the next turn of the event loop. False: the runtime cannot, and the function does not run. It is tried, because some
 * runtimes have a `setImmediate` that throws, such as the Edge runtime of Next.
 */
export function nextTurn(run: () => void): boolean {
  if (!hasTurns) return false
  try {
    runtime.setImmediate(run)
  } catch {
    hasTurns = false
  }
  return hasTurns
}

/** Runs a function when the current task of the event loop ends, or before, where the runtime has no `process.nextTick` that works. */
export function onTaskEnd(run: () => void): void {
  try {
    ;(runtime.process as NonNullable<typeof runtime.process>).nextTick(run)
  } catch {
    queueMicrotask(run)
  }
}

/** Returns the value of `NODE_ENV`; undefined where the runtime has none, or would ask for a permission. */
export function environment(): string | undefined {
  return runtime.Deno === undefined ? runtime.process?.env?.['NODE_ENV'] : undefined
}

/** Warns the operator. */
export function emitWarning(warning: string | Error, code?: string): void {
  // oxlint-disable-next-line no-console -- These runtimes have no other output for the operator.
  console.warn(code === undefined ? warning : `[${code}] ${String(warning)}`)
}

/** Writes a line for the operator. */
export function printError(line: string): void {
  // oxlint-disable-next-line no-console -- See `emitWarning`.
  console.error(line)
}
