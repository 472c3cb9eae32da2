/**
 * In a statement: `gw_cards@$1`, the partition of the table in which Postgres keeps the rows of the value of parameter 1. Without a name
 * before it, as in `tags <@$1`, it is an operator.
 */
const PLACE = /(?<=\w)@\$(\d+)/

/** A statement text, cut at its places. */
interface CutText {
  readonly pieces: readonly string[]
  /** The index of the value of each place. */
  readonly values: readonly number[]
  /** The text for each combination of partitions, made when it is first needed. */
  readonly texts: Map<string, string>
}

const cutTexts = new Map<string, CutText>()

function cut(text: string): CutText {
  let found = cutTexts.get(text)
  if (!found) {
    // A split by an expression with a group gives the pieces and, between them, what the group caught.
    const parts = text.split(PLACE)
    found = {
      pieces: parts.filter((_, index) => index % 2 === 0),
      values: parts.filter((_, index) => index % 2 === 1).map(number => Number(number) - 1),
      texts: new Map(),
    }
    cutTexts.set(text, found)
  }
  return found
}

/**
 * Returns the text of a statement for a database whose tables of account data have so many partitions. `gw_cards@$1` becomes the name of the
 * partition of the value of parameter 1, so that Postgres neither plans nor locks the others; with one partition it becomes `gw_cards`.
 * A table that has an alias in the statement must be called by it elsewhere. Throws a `TypeError` if the value is not a text.
 */
export function inPartitions(text: string, values: readonly unknown[], partitions: number): string {
  if (!text.includes('@$')) return text
  const { pieces, values: places, texts } = cut(text)
  const names = places.map(place => (partitions === 1 ? '' : nameOf(values[place], partitions)))
  const key = names.join()
  let result = texts.get(key)
  if (result === undefined) {
    result = pieces.reduce((before, piece, index) => `${before}${names[index - 1]}${piece}`)
    texts.set(key, result)
  }
  return result
}

/** Returns what follows the name of a table in the name of one of its partitions. */
export const partitionName = (part: number, partitions: number): string => `_p${part}of${partitions}`

function nameOf(value: unknown, partitions: number): string {
  if (typeof value !== 'string')
    throw new TypeError(`the value that selects a partition must be a text, not ${typeof value}`)
  return partitionName(partitionOf(value, partitions), partitions)
}

/** What Postgres adds to the hash of the first column of a partition key (`hash_combine64` of src/include/common/hashfn.h). */
const COMBINE = { high: 0x49a0f4dd, low: 0x15e5a8e3 }
const TWO_32 = 2 ** 32

/**
 * Returns the partition in which Postgres keeps a text, as `partition by hash` decides for a column with the collation "C". The numbers are
 * part of Postgres's format on disk, so all versions agree; machines whose byte order is not little-endian do not, which `migrate` notices.
 */
export function partitionOf(text: string, partitions: number): number {
  const { high, low } = hash(Buffer.from(text))
  const sum = low + COMBINE.low
  const upper = (high + COMBINE.high + (sum >= TWO_32 ? 1 : 0)) % TWO_32
  return ((upper % partitions) * (TWO_32 % partitions) + (sum % TWO_32)) % partitions
}

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits))

/** `hash_bytes_extended` of src/common/hashfn.c of Postgres (lookup3 of Bob Jenkins) with `HASH_PARTITION_SEED`. */
function hash(bytes: Buffer): { readonly high: number; readonly low: number } {
  let a = (0x9e3779b9 + bytes.length + 3923095) | 0
  let b = a
  let c = a
  const mix = (): void => {
    a = (a - c) ^ rotate(c, 4)
    c = (c + b) | 0
    b = (b - a) ^ rotate(a, 6)
    a = (a + c) | 0
    c = (c - b) ^ rotate(b, 8)
    b = (b + a) | 0
    a = (a - c) ^ rotate(c, 16)
    c = (c + b) | 0
    b = (b - a) ^ rotate(a, 19)
    a = (a + c) | 0
    c = (c - b) ^ rotate(b, 4)
    b = (b + a) | 0
  }
  a = (a + 0x7a5b2236) | 0
  b = (b + 0x7996dcfd) | 0
  mix()
  let at = 0
  for (; bytes.length - at >= 12; at += 12) {
    a = (a + bytes.readInt32LE(at)) | 0
    b = (b + bytes.readInt32LE(at + 4)) | 0
    c = (c + bytes.readInt32LE(at + 8)) | 0
    mix()
  }
  // The lowest byte of the last word belongs to the length.
  const rest = Buffer.alloc(12)
  bytes.copy(rest, 0, at)
  a = (a + rest.readInt32LE(0)) | 0
  b = (b + rest.readInt32LE(4)) | 0
  c = (c + (rest.readInt32LE(8) << 8)) | 0
  c = (c ^ b) - rotate(b, 14)
  a = (a ^ c) - rotate(c, 11)
  b = (b ^ a) - rotate(a, 25)
  c = (c ^ b) - rotate(b, 16)
  a = (a ^ c) - rotate(c, 4)
  b = (b ^ a) - rotate(a, 14)
  c = (c ^ b) - rotate(b, 24)
  return { high: b >>> 0, low: c >>> 0 }
}
