import type { Equivalent } from './equivalent.ts'

const SOURCES = 'packages/signature-verifier/src'

/** Some changes of one line of a file, for one reason. */
const changes = (file: string, reason: string, before: string, ...all: readonly string[]): Equivalent[] =>
  all.map(after => ({ source: `${SOURCES}/${file}`, before, after, reason }))

export const SIGNATURE_VERIFIER: readonly Equivalent[] = [
  ...changes(
    'signatures/ecdsa.ts',
    'a character whose entry is missing is no digit, as one that is in the table without a value',
    'const NIBBLES = Uint8Array.from({ length: 128 }, (_, code) => {',
    'const NIBBLES = Uint8Array.from({ length: 129 }, (_, code) => {',
  ),
  ...changes(
    'signatures/ecdsa.ts',
    'any number from 16 says that a character is no digit; in base 17 the letter g has the value 16',
    'const value = Number.parseInt(String.fromCharCode(code), 16);',
    'const value = Number.parseInt(String.fromCharCode(code), 17);',
  ),
  ...changes(
    'signatures/ecdsa.ts',
    'any number from 16 says that a character is no digit',
    'return Number.isNaN(value) ? 16 : value;',
    'return Number.isNaN(value) ? 17 : value;',
  ),
  ...changes(
    'signatures/ecdsa.ts',
    'any number from 16 says that a character is no digit',
    'return NIBBLES[text.charCodeAt(at)] ?? 16;',
    'return NIBBLES[text.charCodeAt(at)] ?? 17;',
  ),
  ...changes(
    'signatures/ecdsa.ts',
    'a text of one character more has an odd length, which is denied anyway',
    "if (typeof text !== 'string' || text.length > 2 + 2 * MAX_SIGNATURE_BYTES)",
    "if (typeof text !== 'string' || text.length > 3 + 2 * MAX_SIGNATURE_BYTES)",
  ),
  ...changes(
    'signatures/ecdsa.ts',
    'after 32 equal bytes the limit has none left: the number that may equal it ends there too, and the other is denied either way',
    'for (index = 0; index < 32; index++) {',
    'for (index = 0; index <= 32; index++) {',
    'for (index = 0; index < 33; index++) {',
  ),
  ...changes(
    'signatures/ecdsa.ts',
    'the line is reached only where the two differ',
    'return own < limit;',
    'return own <= limit;',
  ),
  ...changes(
    'signatures/erc6492.ts',
    'a number that needs the 29th byte is larger than any signature, and so denied either way',
    'return at + 32 <= encoded.length && isZero(encoded, at, at + 28) ? encoded.readUInt32BE(at + 28) : Infinity;',
    'return at + 32 <= encoded.length && isZero(encoded, at, at + 29) ? encoded.readUInt32BE(at + 28) : Infinity;',
  ),
  ...changes(
    'signatures/fastest-recover.ts',
    'allocates a byte more than is needed',
    'const [hashAt, compactAt] = [wasm.malloc(32), wasm.malloc(64)];',
    'const [hashAt, compactAt] = [wasm.malloc(33), wasm.malloc(64)];',
    'const [hashAt, compactAt] = [wasm.malloc(32), wasm.malloc(65)];',
  ),
  ...changes(
    'signatures/fastest-recover.ts',
    'allocates a byte more than is needed',
    'const [signatureAt, keyAt] = [wasm.malloc(65), wasm.malloc(64)];',
    'const [signatureAt, keyAt] = [wasm.malloc(66), wasm.malloc(64)];',
    'const [signatureAt, keyAt] = [wasm.malloc(65), wasm.malloc(65)];',
  ),
  ...changes(
    'signatures/fastest-recover.ts',
    'allocates, or says that there is, a byte more than is needed',
    'const [bytesAt, lengthAt] = [wasm.malloc(65), wasm.mallocSizeT(65)];',
    'const [bytesAt, lengthAt] = [wasm.malloc(66), wasm.mallocSizeT(65)];',
    'const [bytesAt, lengthAt] = [wasm.malloc(65), wasm.mallocSizeT(66)];',
  ),
  ...changes(
    'signatures/contract-wallet.ts',
    'loads ahead what the first check loads otherwise',
    'loadViem().catch(() => { });',
    ';',
  ),
  ...changes(
    'templates/eip4361.ts',
    'without a scheme the member is undefined instead of absent',
    'if (first[1] !== undefined)',
    'if (first[2] !== undefined)',
  ),
  ...changes(
    'templates/eip4361.ts',
    'a text that ends there has no field, and a line that is not empty differs from the rendered message: both are denied later',
    "if (fourth === undefined || fifth !== '' || !STATEMENT.test(fourth) || looksLikeField(fourth))",
    "if (fourth === undefined && fifth !== '' || !STATEMENT.test(fourth) || looksLikeField(fourth))",
  ),
  ...changes(
    'templates/eip4361.ts',
    'a message without a version differs from the rendered one, which always has it',
    "['Version: ', 'version', text => text === '1', false],",
    "['Version: ', 'version', text => text === '1', true],",
  ),
]
