/** Allocates memory outside the JavaScript heap. Its content is not defined. */
export function allocate(length: number): Uint8Array {
  return Buffer.allocUnsafeSlow(length)
}

/** Writes an ASCII text into an array that `allocate` returned. Other characters would be stored wrongly. */
export function writeAscii(bytes: Uint8Array, text: string, start: number): void {
  // `latin1` writes one byte per character, and is the same as ASCII for ASCII.
  ;(bytes as Buffer).write(text, start, 'latin1')
}

/** Reads an ASCII text from an array that `allocate` returned. */
export function readAscii(bytes: Uint8Array, start: number, end: number): string {
  return (bytes as Buffer).toString('latin1', start, end)
}
