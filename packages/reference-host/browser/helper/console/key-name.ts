import { shortened } from '../../shared/address.ts'
import type { Key } from './wire.ts'

/** The name of a key for people: its label, else the first characters of its text. */
export function keyName({ label, keyPrefix }: Pick<Key, 'label' | 'keyPrefix'>): string {
  return label ?? shortened(keyPrefix)
}
