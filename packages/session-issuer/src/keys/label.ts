import { deny, type IssuerDenial } from '../codes.ts'
import { MAX_KEY_LABEL_LENGTH } from '../limits.ts'
import { isPlainLine } from '../plain-line.ts'
import { keyPattern } from './key-text.ts'

const TEXT = `label must be null or 1 to ${MAX_KEY_LABEL_LENGTH} characters in normal form C (NFC), without spaces at its ends, control characters and characters that change the direction of text`

/** Denies a label that is not safe to show in one line, and one that contains a key: labels are shown and logged. */
export function denyKeyLabel(label: unknown, keyPrefix: string): IssuerDenial | undefined {
  if (label === null || label === undefined) return undefined
  if (typeof label !== 'string' || !isLabel(label)) return deny('invalid_request', TEXT, { field: 'label' })
  if (!keyPattern(keyPrefix).test(label)) return undefined
  return deny('invalid_request', 'label must not contain an API key: labels are shown', { field: 'label' })
}

function isLabel(text: string): boolean {
  if (!isPlainLine(text) || text.normalize('NFC') !== text) return false
  // A text has at most twice as many code units as characters: a longer one is not counted.
  if (text === '' || text.trim() !== text || text.length > 2 * MAX_KEY_LABEL_LENGTH) return false
  return [...text].length <= MAX_KEY_LABEL_LENGTH
}
