import { isStorableText } from '@gatewright/kernel/internal'

/**
 * Characters that a label must not contain: control characters, line and paragraph separators, and the characters that change the
 * direction of text, with which a label could look like another one.
 */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

/** Whether a text can be stored, and shown in one line without changing what stands beside it. */
export function isPlainLine(text: string): boolean {
  return isStorableText(text) && !UNSAFE.test(text)
}
