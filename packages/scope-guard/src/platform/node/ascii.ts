/** Allocates memory outside the JavaScript heap. Its content is not defined. */
export function allocate(length: number): Uint8Array {
  return Buffer.allocUnsafeSlow(length)
}

/** Writes an ASCII text to memory of `allocate`. */
export function writeAscii(bytes: Uint8Array, text: string, start: number): void {
  ;(bytes as Buffer).write(text, start, 'latin1')
}

/** Reads an ASCII text from memory of `allocate`. */
export function readAscii(bytes: Uint8Array, start: number, end: number): string {
  return (bytes as Buffer).toString('latin1', start, end)
}
