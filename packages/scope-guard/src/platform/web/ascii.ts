const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Allocates memory outside the JavaScript heap. */
export function allocate(length: number): Uint8Array {
  return new Uint8Array(length)
}

/** Writes an ASCII text into an array that `allocate` returned. Other characters would be stored wrongly. */
export function writeAscii(bytes: Uint8Array, text: string, start: number): void {
  encoder.encodeInto(text, bytes.subarray(start))
}

/** Reads an ASCII text from an array that `allocate` returned. */
export function readAscii(bytes: Uint8Array, start: number, end: number): string {
  return decoder.decode(bytes.subarray(start, end))
}
