// The functions of the runtime that the packages use, on Node. `web.ts` has the same functions for every other runtime. The
// export conditions of `package.json` choose.
import { hash } from 'node:crypto'

/** Computes SHA-256, of the UTF-8 of a text, in base64url. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'base64url')
}

/** Makes an array of bytes whose content is not defined. */
export function allocateBytes(length: number): Uint8Array {
  return Buffer.allocUnsafe(length)
}

/** Writes the UTF-8 of a text to the start of an array of `allocateBytes`, and returns how many bytes it took. */
export function writeUtf8(bytes: Uint8Array, text: string): number {
  return (bytes as Buffer).write(text)
}

/** Returns the length of a text in UTF-8. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text)
}

/** Runs a function in the next turn of the event loop. False: the runtime cannot, and the function does not run. */
export function nextTurn(run: () => void): boolean {
  setImmediate(run)
  return true
}

/** Runs a function when the current task of the event loop ends. */
export function onTaskEnd(run: () => void): void {
  process.nextTick(run)
}

/** Returns the value of `NODE_ENV`. */
export function environment(): string | undefined {
  return process.env['NODE_ENV']
}

/** Warns the operator, as `process.emitWarning` does. */
export function emitWarning(warning: string | Error, code?: string): void {
  process.emitWarning(warning, code === undefined ? {} : { code })
}

/** Writes a line for the operator to the standard error. */
export function printError(line: string): void {
  process.stderr.write(`${line}\n`)
}
